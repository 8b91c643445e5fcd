/* Suggestions for a text field: a list moved through with the arrow keys while the field keeps the focus. */
import { make } from "./dom.js";

let pickerCount = 0;

export class Picker {
  node; #field; #sources; #options = []; #selected = 0; #lastSearch = 0; #id = `picker-${pickerCount += 1}`;

  /* sources: functions of the text before the caret that return {label, options: [{title, text, pick()}]} or nothing, or
     a promise of it; the first result counts. */
  constructor(field, ...sources) {
    this.#field = field;
    this.#sources = sources;
    this.node = make("ul", { class: "picker", role: "listbox", id: this.#id, hidden: true });
    for (const [name, value] of [["aria-autocomplete", "list"], ["aria-controls", this.#id], ["aria-haspopup", "listbox"]]) field.setAttribute(name, value);
    field.addEventListener("blur", () => this.close());
  }
  async look() {
    const search = this.#lastSearch += 1, textBefore = this.#field.value.slice(0, this.#field.selectionStart);
    let suggestions = null;
    for (const source of this.#sources) suggestions ||= await source(textBefore);
    if (search !== this.#lastSearch) return;
    this.#options = suggestions?.options || [];
    this.#selected = 0;
    if (suggestions) this.node.setAttribute("aria-label", suggestions.label);
    this.#draw();
  }
  close() {
    this.#lastSearch += 1;
    this.#options = [];
    this.#draw();
  }
  /* Returns whether the picker used the key. */
  key(event) {
    const count = this.#options.length;
    if (!count || event.isComposing) return false;
    if (event.key === "ArrowDown") this.#selected = (this.#selected + 1) % count;
    else if (event.key === "ArrowUp") this.#selected = (this.#selected + count - 1) % count;
    else if ((event.key === "Enter" && !event.ctrlKey && !event.metaKey) || event.key === "Tab") { this.#pick(this.#options[this.#selected]); return true; }
    else if (event.key === "Escape") { this.close(); return true; }
    else return false;
    this.#draw();
    return true;
  }
  #pick(option) { this.close(); option.pick(); }
  #draw() {
    this.node.hidden = !this.#options.length;
    this.node.replaceChildren(...this.#options.map((option, index) =>
      // On pointer down, not on click, so that the field keeps the focus.
      make("li", { role: "option", id: `${this.#id}-${index}`, "aria-selected": String(index === this.#selected), onpointerdown: (event) => { event.preventDefault(); this.#pick(option); } },
        make("b", { dir: "auto" }, option.title), " ", option.text)));
    if (this.node.hidden) this.#field.removeAttribute("aria-activedescendant");
    else this.#field.setAttribute("aria-activedescendant", `${this.#id}-${this.#selected}`);
    this.node.children[this.#selected]?.scrollIntoView({ block: "nearest" });
  }
}
