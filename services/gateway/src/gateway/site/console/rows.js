/* A field of rows that are added and removed. */
import { button, make } from "./dom.js";
import { say } from "./i18n.js";

/* What is stored and not among a select's choices is one too: nothing is changed by being looked at. */
export function choose(select, value) {
  if (![...select.options].some((one) => one.value === value)) select.append(make("option", { value }, value));
  select.value = value;
}

/* draw(value): {nodes, read()} of a row, read() with what it was drawn from and does not show; blank(): what a new one begins with; another: what the button says. */
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
