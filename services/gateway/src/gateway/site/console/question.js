/* A dialog with a yes and a no. */
import { make, button } from "./dom.js";
import { say } from "./i18n.js";

export function ask(title, text, yes) {
  return new Promise((resolve) => {
    let answer = false;
    const dialog = make("dialog", { "aria-labelledby": "question-title", onclose: () => { dialog.remove(); resolve(answer); } },
      make("h2", { id: "question-title" }, title), make("p", {}, text),
      make("p", { class: "row end" }, button(say("no"), () => dialog.close(), {}),
        button(yes, () => { answer = true; dialog.close(); }, { class: "primary" })));
    document.body.append(dialog);
    dialog.showModal();
  });
}
