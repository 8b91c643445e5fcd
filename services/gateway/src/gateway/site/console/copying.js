/* A button that copies a text, and says that it has. */
import { button, make } from "./dom.js";
import { say } from "./words-of.js";

export function copying(text) {
  const told = make("span", { class: "hint", role: "status" });
  return make("span", { class: "row" }, button(say("begin_copy"), async () => {
    // Without a clipboard (a page over http) it can be marked and copied by hand.
    try { await navigator.clipboard.writeText(text); told.textContent = say("begin_copied"); } catch { told.textContent = say("copyByHand"); }
  }, { class: "small" }), told);
}
