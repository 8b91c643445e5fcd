/* The field of tool categories: each is on, off, or as the default says. */
import { make } from "./dom.js";
import { say } from "./i18n.js";

export const inOrder = (value) => Object.fromEntries(Object.entries(value ?? {}).sort());
const SAID = { "": "categoryUsual", true: "valueOn", false: "valueOff" };

export function categories({ changed, choices }) {
  let stored = {};
  const inputs = choices.map((name) => make("select", { name, "aria-label": say(`category_${name}`), onchange: changed },
    ...Object.entries(SAID).map(([value, words]) => make("option", { value }, say(words)))));
  return {
    node: make("div", { class: "choices" }, ...inputs.map((input) => make("label", {}, say(`category_${input.name}`), input))), inputs, group: true,
    // A category that is no longer set is removed by null.
    read: () => inOrder(Object.fromEntries(inputs.filter(({ name, value }) => value || stored[name] !== undefined).map(({ name, value }) => [name, value ? value === "true" : null]))),
    show(value) {
      stored = value ?? {};
      for (const input of inputs) input.value = String(stored[input.name] ?? "");
    },
  };
}
