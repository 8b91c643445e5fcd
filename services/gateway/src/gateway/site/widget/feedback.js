/* Thumbs under an answer; a thumb down asks why, and whoever does not say has still said enough. */
import { button, icon, make } from "./dom.js";
import { words } from "./i18n.js";

/* `rated`: what was said before ("up", "down" or nothing); rate(rating, reason) says whether it could be sent. */
export function feedback(rated, rate) {
  const thumbs = make("span", { class: "thumbs" });
  const holder = make("span", { class: "feedback" }, thumbs);
  const note = make("span", { class: "thanks", role: "status" });
  const show = (rating) => {
    thumbs.replaceChildren(...["up", "down"].map((one) => button("", () => choose(one), {
      "aria-label": one === "up" ? words.good : words.bad, title: one === "up" ? words.good : words.bad, "aria-pressed": String(one === rating), class: "quiet",
    }, icon("up", one === "down"))), note);
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
    const said = make("input", { type: "text", maxlength: "500", "aria-label": words.reasonHint, placeholder: words.reasonHint });
    const send = (reason) => {
      if (reason && !rate("down", reason)) return;
      form.remove();
      note.textContent = words.thanks;
      thumbs.querySelectorAll("button")[1].focus();
    };
    const form = make("form", { class: "reasons", onsubmit: (event) => { event.preventDefault(); send(said.value.trim()); },
      onkeydown: (event) => { if (event.key === "Escape") { event.stopPropagation(); send(""); } } },
    make("p", {}, words.whyBad),
    make("div", { class: "chips" }, ...[words.reasonWrong, words.reasonMissing, words.reasonUnclear].map((reason) => button(reason, () => send(reason), { class: "chip" }))),
    make("div", { class: "row" }, said, make("button", { type: "submit" }, words.send)));
    holder.append(form);
    form.querySelector("button").focus();
  };
  show(rated);
  return holder;
}
