/* What is known of the person of an open conversation: their earlier conversations, and what is remembered of a customer.
   Read once, since it does not change while the conversation is open. */
import { get } from "./api.js";
import { make } from "./dom.js";
import { moment, say } from "./i18n.js";

export class KnownOf {
  #id; #shown = {}; #remembered = make("div", { class: "earlier" }); #earlier = make("div", { class: "earlier" });
  node = make("div", {}, this.#remembered, this.#earlier);

  constructor(conversationId) { this.#id = conversationId; }

  show({ id, plan, was }) {
    this.#list(id !== "-" && id, "earlier", this.#earlier, async () => {
      const { items } = await get(`/v2/conversations?${new URLSearchParams({ visitor: id, limit: 20 })}`);
      return items.filter((conversation) => conversation.id !== this.#id).map((conversation) => [
        make("a", { href: `#/inbox/${encodeURIComponent(conversation.id)}` }, conversation.topic || conversation.lastMessage?.text.slice(0, 60) || conversation.id), " ",
        make("small", {}, moment(conversation.lastMessage?.createdAt || conversation.startedAt))]);
    });
    this.#list((plan || was) && id, "remembered", this.#remembered, async () => {
      const memory = await get(`/v2/users/${encodeURIComponent(id)}/memory`);
      return [memory.name, ...(memory.preferences || []), ...(memory.userNotes || []), (memory.favoriteSymbols || []).join(", ")].filter(Boolean).slice(0, 20).map((line) => [line]);
    });
  }
  async #list(person, title, node, read) {
    if (person === this.#shown[title]) return;
    this.#shown[title] = person;
    node.replaceChildren();
    try {
      const lines = person ? await read() : [];
      if (lines.length && person === this.#shown[title]) node.replaceChildren(make("h2", {}, say(title)), make("ul", {}, ...lines.map((parts) => make("li", { dir: "auto" }, ...parts))));
    } catch { this.#shown[title] = null; }
  }
}
