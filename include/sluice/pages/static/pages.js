// Refreshes a page in place, sends commands, asks before dangerous ones. No library, no other host.
"use strict";

const body = document.body;
const banner = document.getElementById("banner");

// Airflow's theme where we are inside of it, else the one of the system.
function theme() {
  let dark = matchMedia("(prefers-color-scheme: dark)").matches;
  try {
    const outside = window.parent.document.documentElement;
    if (window.parent !== window) dark = outside.classList.contains("dark");
  } catch { /* Another site's frame tells nothing. */ }
  document.documentElement.dataset.theme = dark ? "dark" : "light";
}
theme();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", theme);
try {
  if (window.parent !== window)
    new MutationObserver(theme).observe(window.parent.document.documentElement, { attributeFilter: ["class"] });
} catch { /* As above. */ }

// Moments in the viewer's time zone.
function clocks(root) {
  for (const one of root.querySelectorAll("time")) {
    const moment = new Date(one.dateTime);
    if (isNaN(moment)) continue;
    const today = moment.toDateString() === new Date().toDateString();
    one.textContent = today || "clock" in one.dataset ? moment.toLocaleTimeString() : moment.toLocaleString();
    one.title = moment.toString();
  }
}

// Rows while the page is open: a line for each table that grows, and the same in words. So many points are kept of each.
const grown = new Map();
const POINTS = 120;
function growths(root) {
  const all = [...root.querySelectorAll("[data-growth]")];
  for (const name of [...grown.keys()]) if (!all.some((one) => one.dataset.growth === name)) grown.delete(name);
  for (const one of all) {
    const { growth: name, rows } = one.dataset;
    let points = grown.get(name) || [];
    if (points.length && points.at(-1)[1] > Number(rows)) points = [];
    points.push([Date.now(), Number(rows)]);
    // Every other one goes, but for the first and the last.
    if (points.length > POINTS) points = points.filter((_, place) => place % 2 === 0 || place === points.length - 1);
    grown.set(name, points);
    if (points.length > 1) one.replaceChildren(line(points), ` ${told(points)}`);
  }
}
function told(points) {
  const [[since, first], [now, last]] = [points[0], points.at(-1)];
  return `+${(last - first).toLocaleString("en")} in ${Math.max(1, Math.round((now - since) / 1000))} s`;
}
function line(points) {
  const [[since, first], [now, last]] = [points[0], points.at(-1)];
  const part = (name, attributes) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };
  const svg = part("svg", { class: "spark", viewBox: "0 -1 120 34", preserveAspectRatio: "none", role: "img", "aria-label": `rows since this page was opened: ${told(points)}` });
  const place = ([at, rows]) => `${Math.round((120 * (at - since)) / (now - since || 1))},${Math.round(32 - (32 * (rows - first)) / (last - first || 1))}`;
  svg.append(part("polyline", { class: "line", points: points.map(place).join(" ") }));
  return svg;
}

// Makes `old` like `fresh` and leaves alone what is the same: focus, selection and scrolling stay.
function morph(old, fresh) {
  if (old.isEqualNode(fresh)) return;
  if (old.nodeType !== fresh.nodeType || old.nodeName !== fresh.nodeName || (old.id || "") !== (fresh.id || "")) {
    old.replaceWith(fresh);
    return;
  }
  if (old.nodeType !== Node.ELEMENT_NODE) {
    old.nodeValue = fresh.nodeValue;
    return;
  }
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  const theirs = [...fresh.childNodes];
  const known = new Map([...old.children].filter((one) => one.id).map((one) => [one.id, one]));
  theirs.forEach((one, place) => {
    const here = (one.id && known.get(one.id)) || old.childNodes[place];
    if (!here) old.append(one);
    else if (here.id && one.id !== here.id) old.insertBefore(one, here);
    else {
      if (here !== old.childNodes[place]) old.insertBefore(here, old.childNodes[place] || null);
      morph(here, one);
    }
  });
  while (old.childNodes.length > theirs.length) old.lastChild.remove();
}

// Whether the banner tells of a refresh that failed: the next one that works hides it, and no other message.
let failing = false;
function say(text, kind = "bad") {
  failing = false;
  banner.hidden = !text;
  banner.className = kind;
  banner.textContent = text || "";
}

async function refresh() {
  if (document.querySelector("[data-submit], [data-still]")) return;
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" }, redirect: "error" });
    if (answer.status === 401) throw new Error("Your session has ended. Log in to Airflow, then reload this page.");
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const live = page.getElementById("live");
    if (!live) throw new Error(`Airflow answers ${answer.status}`);
    if (answer.status >= 500) throw new Error(live.querySelector("section p").textContent);
    clocks(live);
    growths(live);
    const field = document.activeElement?.closest("[data-filter]") && document.activeElement;
    if (field) live.querySelector(`[name=${field.name}]`)?.setAttribute("value", field.value);
    morph(document.getElementById("live"), live);
    body.dataset.token = page.body.dataset.token;
    if (failing) say("");
  } catch (error) {
    say(`${error instanceof TypeError ? "Airflow does not answer." : error.message} What is shown may be old.`);
    failing = true;
  }
}

function sure(text, label) {
  const ask = document.getElementById("ask");
  document.getElementById("ask-title").textContent = `${label}?`;
  document.getElementById("ask-text").textContent = text;
  document.getElementById("ask-yes").textContent = label;
  ask.returnValue = "no";
  ask.showModal();
  return new Promise((done) => ask.addEventListener("close", () => done(ask.returnValue === "yes"), { once: true }));
}

// What a form has, as JSON: lists of choices, switches, numbers or nothing, and texts.
function filled(form) {
  const all = [...form.elements].filter((one) => one.name && !one.closest("[hidden]"));
  const fields = all.filter((one) => one.type !== "checkbox" || !one.hasAttribute("value"));
  const lists = {};
  for (const one of all) if (!fields.includes(one)) (lists[one.name] ||= []).push(...(one.checked ? [one.value] : []));
  const value = (one) => (one.type === "checkbox" ? one.checked : one.type !== "number" ? one.value : one.value === "" ? null : Number(one.value));
  return { ...lists, ...Object.fromEntries(fields.map((one) => [one.name, value(one)])) };
}

// The question of a form with what its choices add, and the word on its button. A switch may have others instead.
function question(form) {
  const on = [...form.elements, ...form.querySelectorAll("option:checked")].filter((one) => one.checked || one.selected);
  const { ask, label } = (on.find((one) => one.dataset.ask) || form).dataset;
  const adds = ask === form.dataset.ask ? on.map((one) => one.dataset.adds).filter(Boolean) : [];
  return { ask: [ask, ...adds].join(" "), label: label || form.dataset.label || "Execute" };
}

// To a page of Airflow. A frame may not lead its parent elsewhere; a link of the parent may.
function lead(path) {
  if (window.parent === window) return location.assign(path);
  const outside = window.parent.document;
  const link = outside.createElement("a");
  link.href = new URL(path.slice(1), outside.baseURI).href;
  link.click();
}

async function post(url, values) {
  try {
    const headers = { "X-Sluice-Token": body.dataset.token, "Content-Type": "application/json" };
    const answer = await fetch(url, { method: "POST", headers, body: values && JSON.stringify(values) });
    const told = await answer.json();
    if (!answer.ok) say(`${told.fact}. ${told.hint || ""}`);
    else say(`Done: ${told.done}.`, "good");
    return answer.ok && told;
  } catch {
    say("Airflow does not answer. Whether it was done is not known: look again.");
    return false;
  }
}

document.addEventListener("click", async (event) => {
  const at = event.target.closest("[data-post], [data-refresh-now], [data-view], [data-airflow]");
  if (!at || event.ctrlKey || event.metaKey) return;
  if ("refreshNow" in at.dataset) refresh();
  else if ("view" in at.dataset) {
    event.preventDefault();
    history.replaceState(null, "", at.href);
    refresh();
  } else if ("airflow" in at.dataset && window.parent !== window) {
    event.preventDefault();
    lead(at.getAttribute("href"));
  } else if (at.dataset.post) {
    // What was shown when it was asked: a refresh goes on behind the question, and other people are at work.
    const { ask, post: to, ordinal, values } = at.dataset;
    if (ask && !(await sure(ask, at.textContent.trim()))) return;
    at.disabled = true;
    await post(to, ordinal ? { ordinal: Number(ordinal) } : values && JSON.parse(values));
    at.disabled = false;
    refresh();
  }
});

let typing;
function filter(form) {
  const query = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
  history.replaceState(null, "", `${form.getAttribute("action")}?${query}`);
  refresh();
}
document.addEventListener("input", (event) => {
  const form = event.target.closest("[data-filter]");
  clearTimeout(typing);
  if (form) typing = setTimeout(() => filter(form), 200);
});
document.addEventListener("change", (event) => {
  const { reload: to, after } = event.target.dataset;
  if ("all" in event.target.dataset)
    for (const one of event.target.form.querySelectorAll("[name=row]")) one.checked = event.target.checked;
  ticked();
  if (to) location.assign(to + encodeURIComponent(event.target.value) + (after || ""));
  else if (event.target.closest("[data-submit]")) preview();
  else named();
});

// Buttons with the word of what they do as the form is filled now, and what is of the chosen rule alone.
function named() {
  for (const form of document.querySelectorAll("[data-json]")) {
    form.querySelector(".primary").textContent = question(form).label;
    const rule = form.elements.rule?.value || "source";
    for (const one of form.querySelectorAll("[data-rules]")) {
      one.hidden = !one.dataset.rules.split(" ").includes(rule);
      for (const field of one.querySelectorAll("input")) field.disabled = one.hidden;
    }
  }
}

// Tick boxes of rows, and the one that ticks all of them; without a tick there is nothing to send.
function ticked() {
  for (const form of document.querySelectorAll("[data-ticks]")) {
    const all = form.querySelector("[data-all]");
    const rows = [...form.querySelectorAll("[name=row]")];
    const on = rows.filter((one) => one.checked).length;
    all.checked = on === rows.length;
    all.indeterminate = on > 0 && on < rows.length;
    const button = form.querySelector("button");
    button.disabled = !on;
    button.textContent = on ? `Repair ${on} chosen ${on === 1 ? "row" : "rows"} …` : "Repair chosen rows …";
  }
}

// The preview of a form: of the choices made last, whatever is answered first.
let asked = 0;
async function preview() {
  const at = document.querySelector("[data-preview]");
  if (!at) return;
  const mine = ++asked;
  const given = new FormData(at.closest("form"));
  const query = new URLSearchParams({ source: given.get("source"), mode: given.get("mode") || "snapshot", resume: given.has("resume") });
  for (const slave of given.getAll("slaves")) query.append("slave", slave);
  at.setAttribute("aria-busy", "true");
  let told;
  try {
    const answer = await fetch(`${at.dataset.preview}?${query}`, { headers: { Accept: "text/html" }, redirect: "error" });
    const found = new DOMParser().parseFromString(await answer.text(), "text/html");
    told = answer.ok ? [...found.body.childNodes] : [`The preview is not known: ${found.querySelector("section p")?.textContent || `Airflow answers ${answer.status}`}`];
  } catch {
    told = ["The preview is not known: Airflow does not answer."];
  }
  if (mine !== asked) return;
  at.replaceChildren(...told);
  at.removeAttribute("aria-busy");
}
document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (form.matches("[data-filter]")) {
    event.preventDefault();
    filter(form);
  } else if (form.dataset.json) {
    event.preventDefault();
    const values = filled(form);
    const empty = Object.entries(values).find(([, chosen]) => Array.isArray(chosen) && !chosen.length);
    if (empty) return say(`Choose at least one of the ${empty[0]}.`);
    say("");
    const { ask, label } = question(form);
    const sql = values.sql && `\n\n${values.sql}\n\nNames without a schema are looked up in ${values.schema}.`;
    const tables = values.tables && `\n\nTables: ${values.tables.join(", ")}`;
    if (!(await sure(ask + (sql || tables || ""), label))) return;
    form.inert = true;
    const told = await post(form.dataset.json, values);
    if (told && "run" in form.dataset) {
      const [dag, ...run] = told.run.split("/");
      lead(`/dags/${dag}/runs/${encodeURIComponent(run.join("/"))}`);
    } else if (told && form.dataset.then) location.assign(form.dataset.then + told.number);
    form.inert = Boolean(told);
  } else if (form.dataset.submit) {
    event.preventDefault();
    const given = new FormData(form);
    const slaves = given.getAll("slaves");
    if (!slaves.length) return say("Choose at least one slave.");
    if (!(await sure(`${form.dataset.ask} (${slaves.join(", ")})`, "Begin"))) return;
    const switches = { store_initial_data: given.has("store_initial_data"), resume: given.has("resume") };
    // A form that offers no modes sends none.
    const values = { source: given.get("source"), mode: given.get("mode") || undefined, slaves, ...switches };
    values.cascade = given.get("cascade") || null;
    const told = await post(form.dataset.submit, values);
    if (told) location.assign(`${form.dataset.then}?run=${encodeURIComponent(told.run)}`);
  }
});

clocks(document);
growths(document);
named();
ticked();
preview();
setInterval(() => document.hidden || refresh(), Number(body.dataset.refresh) * 1000);
// Who comes back finds the boxes as they were left.
addEventListener("pageshow", ticked);
document.addEventListener("visibilitychange", () => document.hidden || refresh());
