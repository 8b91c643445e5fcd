/* The keys of the inbox, and whether single letters do something: whoever dictates may switch them off, because each
   letter that is spoken would be a command. The choice is stored in the browser. */
import { make } from "./dom.js";
import { say } from "./i18n.js";

const KEY = "nexus.console.letters";
const KEYS = [
  ["j k", "keysMove"], ["r", "keysWrite"], ["n", "privateNote"], ["t", "keysTake"], ["e", "keysResolve"], ["s", "snooze"], ["a", "assignee"],
  ["l", "addLabel"], ["/", "keysFind"], ["i", "keysInfo"], ["Ctrl ↵", "keysSend"], ["Esc", "keysClose"],
];

/* Whether this key does nothing: a single sign, and the agent has switched those off. */
export const isOff = (key) => key.length === 1 && localStorage.getItem(KEY) === "off";

/* The list of keys, with the switch. */
export function shortcuts() {
  const box = make("input", { type: "checkbox", onchange: () => localStorage.setItem(KEY, box.checked ? "on" : "off") });
  box.checked = localStorage.getItem(KEY) !== "off";
  return make("section", {}, make("h2", {}, say("keys")), make("p", {}, make("label", {}, box, " ", say("keysOn"))),
    make("dl", { class: "keys" }, ...KEYS.flatMap(([key, name]) => [make("dt", {}, make("kbd", {}, key)), make("dd", {}, say(name))])));
}
