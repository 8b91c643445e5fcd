/* Thumbs under an answer. A thumb down asks why; the rating counts without a reason, too. */
import { button, icon, make } from "./dom.js";
import { words } from "./i18n.js";

const THUMB = "M7 10.5v9.5H4v-9.5ZM7 19.5c3 1.2 6 .9 9 .9 1.8 0 3-1 3.3-2.7l1-5c.3-1.7-.8-2.8-2.4-2.8H14l.7-4c.2-1.5-1.6-2.8-2.8-1.5L7 10.5";

/* `rated`: the earlier rating ("up", "down" or nothing); rate(rating, reason) returns whether it could be sent. */
export function feedback(rated, rate) {
  const thumbs = make("span", { class: "thumbs" });
  const holder = make("span", { class: "feedback" }, thumbs);
  const note = make("span", { class: "thanks", role: "status" });
  const show = (rating) => {
    thumbs.replaceChildren(...["up", "down"].map((value) => button("", () => choose(value), {
      "aria-label": value === "up" ? words.good : words.bad, title: value === "up" ? words.good : words.bad, "aria-pressed": String(value === rating), class: "quiet",
    }, icon(THUMB, value === "down"))), note);
  };
  const choose = (rating) => {
    if (!rate(rating)) { note.textContent = words.notNow; return; }
    show(rating);
    thumbs.querySelectorAll("button")[rating === "up" ? 0 : 1].focus();
    holder.querySelector("form")?.remove();
    if (rating === "down") ask();
    else note.textContent = words.thanks;
  };
  const ask = () => {
    const reasonField = make("input", { type: "text", maxlength: "500", "aria-label": words.reasonHint, placeholder: words.reasonHint });
    const send = (reason) => {
      if (reason && !rate("down", reason)) return;
      form.remove();
      note.textContent = words.thanks;
      thumbs.querySelectorAll("button")[1].focus();
    };
    const form = make("form", { class: "reasons", onsubmit: (event) => { event.preventDefault(); send(reasonField.value.trim()); },
      onkeydown: (event) => { if (event.key === "Escape") { event.stopPropagation(); send(""); } } },
    make("p", {}, words.whyBad),
    make("div", { class: "chips" }, ...[words.reasonWrong, words.reasonMissing, words.reasonUnclear].map((reason) => button(reason, () => send(reason), { class: "chip" }))),
    make("div", { class: "row" }, reasonField, make("button", { type: "submit" }, words.send)));
    holder.append(form);
    form.querySelector("button").focus();
  };
  show(rated);
  return holder;
}
