/* The field to write in: it grows with the text, sends with Enter, and shows Stop while an answer is written. */
import { button, icon, make } from "./dom.js";
import { fill, words } from "./i18n.js";

const MOST = 8000, TELL_FROM = 7500, TYPING_EVERY = 3000;

export class Composer {
  #typed = 0; #kept; #act; #turn = false; #files;

  /* act: {send(text, files), stop(), typing()} */
  constructor(kept, act) {
    this.#kept = kept;
    this.#act = act;
    this.input = make("textarea", { "aria-label": words.hint, placeholder: words.hint, maxlength: MOST, rows: "1", dir: "auto", enterkeyhint: "send",
      oninput: () => { this.changed(); this.#typing(); },
      onkeydown: (event) => { if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); this.#send(); } } });
    this.count = make("span", { class: "count", role: "status", hidden: true });
    this.button = make("button", { type: "submit", class: "send", "aria-label": words.send, title: words.send }, icon("send"));
    this.stop = button("", () => this.#act.stop(), { class: "stop", "aria-label": words.stop, title: words.stop, hidden: true }, icon("stop"), words.stop);
    this.node = make("form", { class: "composer", onsubmit: (event) => { event.preventDefault(); this.#send(); } },
      make("div", { class: "field" }, this.input, this.count, this.stop, this.button));
    this.input.value = kept.here("unsent");
    this.changed();
  }
  busy(on) {
    if (on === this.#turn) return;
    this.#turn = on;
    if (!on && this.stop.getRootNode().activeElement === this.stop) this.input.focus();
    this.stop.hidden = !on;
  }
  /* Puts a text in the field, to go on from. */
  draft(text) { this.input.value = text; this.changed(); this.input.focus(); }
  enabled(on) { this.input.disabled = !on; this.changed(); }
  /* Adds the picker of files (static/files.js). */
  attach(files) {
    this.#files = files.listen(this.node);
    this.node.prepend(files.list);
    this.input.before(files.node);
    files.changed = () => this.changed();
    this.changed();
  }
  fit() {
    this.input.style.height = "auto";
    this.input.style.height = `${Math.min(this.input.scrollHeight, 140)}px`;
  }

  changed() {
    const length = this.input.value.length;
    const files = this.#files;
    this.button.disabled = this.input.disabled || files?.busy || !(this.input.value.trim() || files?.refs.length);
    this.count.hidden = length < TELL_FROM;
    this.count.textContent = fill(words.left, { count: MOST - length });
    this.#kept.setHere("unsent", this.input.value);
    this.fit();
  }
  #typing() {
    const now = Date.now();
    if (now - this.#typed > TYPING_EVERY && this.input.value && this.#act.typing()) this.#typed = now;
  }
  #send() {
    if (this.button.disabled) return;
    const text = this.input.value.trim() || this.#files.text, files = this.#files?.refs;
    this.input.value = "";
    this.#files?.clear();
    this.changed();
    this.#act.send(text, files);
  }
}
