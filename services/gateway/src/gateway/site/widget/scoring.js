/* A score from 1 to 5 and a comment, under the question whether a conversation helped. Both can be changed. */
import { button, make } from "./dom.js";
import { words } from "./i18n.js";

/* `scored`: the earlier score, 1 to 5; score(value, comment) returns whether it could be sent. */
export function scoring(scored, score) {
  const note = make("span", { class: "thanks", role: "status" });
  const commentField = make("input", { type: "text", maxlength: "1000", "aria-label": words.scoreWord, placeholder: words.scoreWord });
  let chosen = scored || 0;
  const steps = [1, 2, 3, 4, 5].map((value) => button(String(value), () => choose(value), { class: "chip", "aria-pressed": String(value === chosen) }));
  const send = (comment) => { note.textContent = score(chosen, comment) ? words.thanks : words.notNow; };
  const choose = (value) => {
    chosen = value;
    steps.forEach((step, index) => step.setAttribute("aria-pressed", String(index + 1 === value)));
    form.hidden = false;
    send(commentField.value.trim());
    note.scrollIntoView({ block: "nearest" });
  };
  const form = make("form", { class: "row", hidden: !chosen, onsubmit: (event) => { event.preventDefault(); send(commentField.value.trim()); } },
    commentField, make("button", { type: "submit" }, words.send));
  return make("div", { class: "feedback scoring" }, make("div", { class: "chips", role: "group", "aria-label": words.score }, ...steps), form, note);
}
