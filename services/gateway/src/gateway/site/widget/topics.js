/* A person's topics: a new one, and the earlier ones to go back to. */
import { button, make } from "./dom.js";
import { fromServer, messagesOf } from "./older.js";
import { words } from "./saying.js";

const MOST_PAGES = 10;

export class Topics {
  #identity; #thread; #held; #go;

  /* held(): words are on their way that belong to this topic; go(): the chat begins anew, in the topic that is kept then. */
  constructor(identity, thread, held, go) {
    this.#identity = identity;
    this.#thread = thread;
    this.#held = held;
    this.#go = go;
    this.node = make("nav", { class: "suggestions topics", "aria-label": words.topics, hidden: true });
  }
  async toggle() {
    this.node.hidden = !this.node.hidden;
    if (this.node.hidden) return;
    this.node.replaceChildren(button(words.newTopic, () => this.#try(async () => this.#open((await fromServer(this.#identity, "", { method: "POST", body: "{}" })).conversationId))));
    await this.#try(async () => {
      const { items } = await fromServer(this.#identity), now = this.#identity.kept.get("conversation");
      this.node.append(...items.filter(({ id }) => id !== now).map(({ id, topic, lastMessage, visitor }) =>
        button((topic || lastMessage?.text || id).slice(0, 50), () => (visitor.was ? this.#try(() => this.#read(id)) : this.#open(id)))));
    });
  }
  #open(id) {
    if (this.#held()) return this.#failed();
    this.#identity.kept.set("conversation", id);
    this.#go();
  }
  /* What one wrote before one signed in is read where one is; nobody goes on there. */
  async #read(id) {
    let pages = 0, cursor = null;
    do {
      const { items, next } = await messagesOf(this.#identity, id, cursor);
      this.#thread.before(items.map((one) => ({ ...one, still: true, actions: [], files: one.files?.map((file) => ({ ...file, of: id })) })));
      cursor = next;
    } while (cursor && ++pages < MOST_PAGES);
    this.node.hidden = true;
    this.#thread.node.scrollTop = 0;
  }
  async #try(what) { try { await what(); } catch { this.#failed(); } }
  #failed() { this.node.append(make("p", { role: "alert" }, words.notNow)); }
}
