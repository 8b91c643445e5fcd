/* Fields of rows that can be added and removed, and lists whose unchanged rows keep their node. */
import { button, make } from "./dom.js";
import { say } from "./i18n.js";

/* The lines of a text field. */
export const lines = (text) => text.split("\n").map((line) => line.trim()).filter(Boolean);

/* A stored value that is not among the choices is added, so that opening the page changes nothing. */
export function choose(select, value) {
  if (![...select.options].some((option) => option.value === value)) select.append(make("option", { value }, value));
  select.value = value;
}

/* draw(value): returns {nodes, read()} of a row, read() including the fields it does not show; blank(): the value of a
   new row; another: the text of the button. */
export function rows({ changed, draw, blank, another }) {
  const list = make("div", { class: "hooks" });
  const add = (value) => {
    const { nodes, read } = draw(value);
    const row = make("div", { class: "hook" }, ...nodes, button(say("remove"), () => { row.remove(); changed(); }, { class: "small" }));
    row.read = read;
    list.append(row);
  };
  return {
    node: make("div", {}, list, button(another, () => { add(blank()); changed(); }, { class: "small" })), inputs: [], group: true,
    read: () => [...list.children].map((row) => row.read()),
    show(value) { list.replaceChildren(); (value ?? []).forEach(add); },
  };
}

/* Draws a list again. A row whose key is known keeps its node, with the text typed in it and the focus.
   key(item); draw(item): the row; empty: the text of an empty list. */
export class KeptRows {
  #nodes = new Map();

  constructor(list, { key, draw, empty }) { Object.assign(this, { list, key, draw, empty }); }
  show(items) {
    const { list } = this;
    this.#nodes = new Map(items.map((item) => [this.key(item), item]).map(([key, item]) => [key, this.#nodes.get(key) || this.draw(item)]));
    const nodes = [...this.#nodes.values()];
    if (nodes.length && nodes.length === list.children.length && nodes.every((node, index) => node === list.children[index])) return;
    list.replaceChildren(...(nodes.length ? nodes : [make("li", { class: "empty" }, this.empty)]));
  }
}
