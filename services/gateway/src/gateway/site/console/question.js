/* Dialogs: one with any content, and one with a yes and a no. */
import { make, button } from "./dom.js";
import { say } from "./i18n.js";

/* Shows a dialog until it is closed; `head`: the element that has the title, its heading alone by default. */
export function showDialog(title, content, { closed = () => {}, head = (heading) => heading, ...attributes } = {}) {
  const dialog = make("dialog", { ...attributes, "aria-labelledby": "dialog-title", onclose: () => { dialog.remove(); closed(); } },
    head(make("h2", { id: "dialog-title" }, title)), ...content);
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/* Resolves to whether the answer was yes. */
export function ask(title, text, yes, kind = "primary") {
  return new Promise((resolve) => {
    let answer = false;
    const dialog = showDialog(title, [make("p", {}, text),
      make("p", { class: "row end" }, button(say("no"), () => dialog.close(), {}),
        button(yes, () => { answer = true; dialog.close(); }, { class: kind }))], { closed: () => resolve(answer) });
  });
}
