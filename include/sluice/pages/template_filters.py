"""The filters of the templates: texts of others and numbers, as a page shows them."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from sluice import outside_text


@dataclass(frozen=True)
class Note:
    """A fact, and what to do about it."""

    fact: str
    hint: str


@dataclass(frozen=True)
class Task:
    """A task of a DAG run, as the audit trail names its jobs."""

    dag: str
    run: str
    task: str


def task(actor: str) -> Task | None:
    """The task that did something; None if a person did."""
    parts = actor.split("/")
    return Task(parts[0], "/".join(parts[1:-2]), parts[-2]) if len(parts) >= 4 and parts[-1].isdigit() else None


def visible(value: object) -> object:
    """A value of a template; in a text, control characters can be seen."""
    if isinstance(value, Markup):
        return value
    return outside_text.visible(str(value))


def age(seconds: float) -> str:
    """A time span in two words at most."""
    whole = int(seconds)
    for name, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if whole >= size:
            rest = whole % size
            smaller = {"d": ("h", 3_600), "h": ("min", 60), "min": ("s", 1)}[name]
            more = f" {rest // smaller[1]} {smaller[0]}" if rest >= smaller[1] else ""
            return f"{whole // size} {name}{more}"
    return f"{whole} s"


def figure(value: float) -> str:
    """A number in a few digits."""
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:,.1f}" if value >= 1 else f"{value:.2g}"


def notes(text: str) -> list[Note]:
    """Notes of the status: each begins a line, and a HINT belongs to the facts before it."""
    notes_so_far: list[Note] = []
    facts: list[str] = []
    for line in text.splitlines():
        if line.startswith("HINT: "):
            notes_so_far.append(Note("\n".join(facts), line.removeprefix("HINT: ")))
            facts = []
        elif notes_so_far and not facts and line.startswith("  "):
            notes_so_far[-1] = Note(notes_so_far[-1].fact, f"{notes_so_far[-1].hint}\n{line}")
        else:
            facts.append(line)
    return [*notes_so_far, *([Note("\n".join(facts), "")] if facts else [])]
