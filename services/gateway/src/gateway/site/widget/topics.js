/* A person's topics: a new one, and the earlier ones to go back to. */
import { button, make } from "./dom.js";
import { words } from "./saying.js";
import { server } from "./settings.js";

export class Topics {
  #identity; #held; #go;

  /* held(): words are on their way that belong to this topic; go(): the chat begins anew, in the topic that is kept then. */
  constructor(identity, held, go) {
    this.#identity = identity;
    this.#held = held;
    this.#go = go;
    this.node = make("nav", { class: "suggestions topics", "aria-label": words.topics, hidden: true });
  }
  async toggle() {
    this.node.hidden = !this.node.hidden;
    if (this.node.hidden) return;
    this.node.replaceChildren(button(words.newTopic, async () => this.#open((await this.#ask({ method: "POST", body: "{}" })).conversationId)));
    const { items = [] } = await this.#ask();
    const now = this.#identity.kept.get("conversation");
    this.node.append(...items.filter(({ id }) => id !== now).map(({ id, topic, lastMessage }) =>
      button((topic || lastMessage?.text || id).slice(0, 50), () => this.#open(id))));
  }
  #open(id) {
    if (!id || this.#held()) return this.#failed();
    this.#identity.kept.set("conversation", id);
    this.#go();
  }
  async #ask(how) {
    try {
      const headers = { authorization: `Bearer ${await this.#identity.token()}`, "content-type": "application/json" };
      const answer = await fetch(`${server}/v2/conversations`, { headers, ...how });
      if (answer.ok) return await answer.json();
    } catch { /* said below */ }
    this.#failed();
    return {};
  }
  #failed() { this.node.append(make("p", { role: "alert" }, words.notNow)); }
}
