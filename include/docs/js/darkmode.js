// In place of the theme's script, which needs a highlighter from another host: the site is light or dark as the system is.
const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.setAttribute("data-bs-theme", dark.matches ? "dark" : "light");
follow();
dark.addEventListener("change", follow);
