/* Turns the offers in a list of remembered facts ("Say “forget 1” or “correct 1: …”.") into buttons that say so. The
   numbers are those of the newest list: beside.css hides the buttons of older ones. */
import { button, make } from "./dom.js";
import { words } from "./i18n.js";

const OFFER = /(?:[“«](.+)[”»]\.)? (?:Say|Di) [“«]((?:forget|olvida) (?:(?:la )?\d+|(?:my|mis?) [^”»]+))[”»](?: (?:or|o) [“«]([^”»]+)…[”»])?\.$/;

/* say(text): sends it; draft(text): puts it in the field. */
export function offers(body, { say, draft }) {
  const texts = document.createTreeWalker(body, NodeFilter.SHOW_TEXT);
  const buttons = [];
  while (texts.nextNode()) {
    const offer = OFFER.exec(texts.currentNode.data);
    if (offer) buttons.push([texts.currentNode, offer]);
  }
  for (const [node, [, fact, forget, correct]] of buttons) {
    node.data = node.data.slice(0, node.data.lastIndexOf(forget) - 1).replace(/ \S+ $/, " ");
    node.after(make("span", { class: "offer" },
      correct ? button(words.correct, () => draft(/\d/.test(correct) ? correct + (fact || "") : correct), { class: "link", title: `${correct}…` }) : "",
      button(words.forget, () => say(forget), { class: "link", title: forget })));
  }
}
