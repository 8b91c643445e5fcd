/* A button that copies a text, and says that it has; and what is saved as a file. */
import { call } from "./api.js";
import { button, make } from "./dom.js";
import { say } from "./i18n.js";

export function copying(text) {
  const told = make("span", { class: "hint", role: "status" });
  return make("span", { class: "row" }, button(say("begin_copy"), async () => {
    // Without a clipboard (a page over http) it can be marked and copied by hand.
    try { await navigator.clipboard.writeText(text); told.textContent = say("begin_copied"); } catch { told.textContent = say("copyByHand"); }
  }, { class: "small" }), told);
}

/* What stands at the path, as a file of that name; fail(text): why there is none. */
export async function save(path, accept, download, fail) {
  let body;
  try { ({ body } = await call("GET", path, { headers: { Accept: accept } })); } catch (error) { fail(error.message); return; }
  const href = URL.createObjectURL(new Blob([typeof body === "string" ? body : JSON.stringify(body, null, 2)], { type: accept }));
  make("a", { href, download }).click();
  URL.revokeObjectURL(href);
}
