/* Suggestions for what one writes in a field: a list that is walked with the arrows while the field keeps the focus. */
import { make } from "./dom.js";

let made = 0;

export class Picker {
  node; #field; #sources; #options = []; #at = 0; #asked = 0; #id = `picker-${made += 1}`;

  /* sources: functions of what stands before the caret that give {label, options: [{title, text, pick()}]}, also promised,
     or nothing; the first that gives something counts. */
  constructor(field, ...sources) {
    this.#field = field;
    this.#sources = sources;
    this.node = make("ul", { class: "picker", role: "listbox", id: this.#id, hidden: true });
    for (const [name, value] of [["aria-autocomplete", "list"], ["aria-controls", this.#id], ["aria-haspopup", "listbox"]]) field.setAttribute(name, value);
    field.addEventListener("blur", () => this.close());
  }
  async look() {
    const asked = this.#asked += 1, before = this.#field.value.slice(0, this.#field.selectionStart);
    let found = null;
    for (const source of this.#sources) found ||= await source(before);
    if (asked !== this.#asked) return;
    this.#options = found?.options || [];
    this.#at = 0;
    if (found) this.node.setAttribute("aria-label", found.label);
    this.#draw();
  }
  close() {
    this.#asked += 1;
    this.#options = [];
    this.#draw();
  }
  /* Whether the key was for it. */
  key(event) {
    const most = this.#options.length;
    if (!most || event.isComposing) return false;
    if (event.key === "ArrowDown") this.#at = (this.#at + 1) % most;
    else if (event.key === "ArrowUp") this.#at = (this.#at + most - 1) % most;
    else if ((event.key === "Enter" && !event.ctrlKey && !event.metaKey) || event.key === "Tab") { this.#pick(this.#options[this.#at]); return true; }
    else if (event.key === "Escape") { this.close(); return true; }
    else return false;
    this.#draw();
    return true;
  }
  #pick(option) { this.close(); option.pick(); }
  #draw() {
    this.node.hidden = !this.#options.length;
    this.node.replaceChildren(...this.#options.map((one, index) =>
      // Pressed, not clicked: the field keeps the focus.
      make("li", { role: "option", id: `${this.#id}-${index}`, "aria-selected": String(index === this.#at), onpointerdown: (event) => { event.preventDefault(); this.#pick(one); } },
        make("b", { dir: "auto" }, one.title), " ", one.text)));
    if (this.node.hidden) this.#field.removeAttribute("aria-activedescendant");
    else this.#field.setAttribute("aria-activedescendant", `${this.#id}-${this.#at}`);
    this.node.children[this.#at]?.scrollIntoView({ block: "nearest" });
  }
}
