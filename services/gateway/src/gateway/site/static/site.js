/* The demo site's own script: light or dark, who to be (in development), and buttons that ask the assistant. */
"use strict";

const root = document.documentElement;
const store = (name, value) => { try { localStorage.setItem(`site:${name}`, value); } catch { /* only this page remembers */ } };
const stored = (name) => { try { return localStorage.getItem(`site:${name}`) || ""; } catch { return ""; } };

const theme = document.getElementById("theme");
const isDark = () => (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
function applyTheme(name) {
  if (name) root.dataset.theme = name;
  theme.setAttribute("aria-label", isDark() ? theme.dataset.light : theme.dataset.dark);
  if (window.Nexus && name) window.Nexus.theme(name);
}
theme.addEventListener("click", () => { const name = isDark() ? "light" : "dark"; store("theme", name); applyTheme(name); });

const persona = document.getElementById("persona");
async function token(name) {
  const answer = await fetch("/dev/tokens", {
    method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ persona: name }),
  });
  if (!answer.ok) throw new Error(`no token for ${name} (${answer.status})`);
  return (await answer.json()).token;
}
async function become(name) {
  try {
    if (name) await window.Nexus.identify(() => token(name));
    else window.Nexus.forget();
    store("persona", name);
  } catch {
    persona.value = "";
    store("persona", "");
    persona.setCustomValidity(persona.dataset.failed);
    persona.reportValidity();
  }
}

applyTheme(stored("theme"));
addEventListener("nexus:ready", () => {
  applyTheme(stored("theme"));
  if (!persona) return;
  persona.value = stored("persona");
  if (persona.value) become(persona.value);
  persona.addEventListener("change", () => { persona.setCustomValidity(""); become(persona.value); });
});
for (const link of document.querySelectorAll("[data-ask]")) link.addEventListener("click", () => window.Nexus.send(link.dataset.ask));
