/* A field of rows that can be added and removed. */
import { button, make } from "./dom.js";
import { say } from "./i18n.js";

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
