/* What a list of remembered facts says of each ("Say “forget 1” or “correct 1: …”.") as buttons that say it. Numbers are those
   of the newest list: beside.css hides the buttons of the others. */
import { button, make } from "./dom.js";
import { words } from "./i18n.js";

const OFFER = /(?:[“«](.+)[”»]\.)? (?:Say|Di) [“«]((?:forget|olvida) (?:(?:la )?\d+|(?:my|mis?) [^”»]+))[”»](?: (?:or|o) [“«]([^”»]+)…[”»])?\.$/;

/* say(text): says it; draft(text): lets one write on. */
export function offers(body, { say, draft }) {
  const texts = document.createTreeWalker(body, NodeFilter.SHOW_TEXT);
  const found = [];
  while (texts.nextNode()) {
    const offer = OFFER.exec(texts.currentNode.data);
    if (offer) found.push([texts.currentNode, offer]);
  }
  for (const [node, [, fact, forget, correct]] of found) {
    node.data = node.data.slice(0, node.data.lastIndexOf(forget) - 1).replace(/ \S+ $/, " ");
    node.after(make("span", { class: "offer" },
      correct ? button(words.correct, () => draft(/\d/.test(correct) ? correct + (fact || "") : correct), { class: "link", title: `${correct}…` }) : "",
      button(words.forget, () => say(forget), { class: "link", title: forget })));
  }
}
