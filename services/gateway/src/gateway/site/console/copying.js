/* A button that copies a text, and saving a reply as a file. */
import { call } from "./api.js";
import { button, make } from "./dom.js";
import { say } from "./i18n.js";

export function copying(text) {
  const status = make("span", { class: "hint", role: "status" });
  return make("span", { class: "row" }, button(say("begin_copy"), async () => {
    // Without clipboard access (a page over http) the text can be copied by hand.
    try { await navigator.clipboard.writeText(text); status.textContent = say("begin_copied"); } catch { status.textContent = say("copyByHand"); }
  }, { class: "small" }), status);
}

/* Saves what the path returns as a file with the name `download`; fail(text) is called with a fault. */
export async function save(path, accept, download, fail) {
  let body;
  try { ({ body } = await call("GET", path, { headers: { Accept: accept } })); } catch (error) { fail(error.message); return; }
  const href = URL.createObjectURL(new Blob([typeof body === "string" ? body : JSON.stringify(body, null, 2)], { type: accept }));
  make("a", { href, download }).click();
  URL.revokeObjectURL(href);
}
