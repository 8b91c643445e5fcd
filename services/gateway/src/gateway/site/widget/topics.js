/* A person's topics: a new one, the earlier ones to go back to, and this one by e-mail. */
import { button, make } from "./dom.js";
import { fromServer, messagesOf } from "./older.js";
import { words } from "./i18n.js";
import { host } from "./settings.js";

const MOST_PAGES = 10, MOST_MAIL = 1500; // characters: some mail programs accept no longer address

export class Topics {
  #identity; #thread; #hasUnsent; #restart;

  /* hasUnsent(): there are unsent messages of this topic; restart(): opens the chat in the stored conversation. */
  constructor(identity, thread, hasUnsent, restart) {
    this.#identity = identity;
    this.#thread = thread;
    this.#hasUnsent = hasUnsent;
    this.#restart = restart;
    this.node = make("nav", { class: "suggestions topics", "aria-label": words.topics, hidden: true });
  }
  async toggle() {
    this.node.hidden = !this.node.hidden;
    if (this.node.hidden) return;
    this.node.replaceChildren(button(words.newTopic, () => this.#try(async () => this.#open((await fromServer(this.#identity, "", { method: "POST", body: "{}" })).conversationId))));
    await this.#try(async () => {
      const { items } = await fromServer(this.#identity), current = this.#identity.kept.get("conversation");
      this.node.append(...items.filter(({ id }) => id !== current).map(({ id, topic, lastMessage, visitor }) =>
        button((topic || lastMessage?.text || id).slice(0, 50), () => (visitor.was ? this.#try(() => this.#read(id)) : this.#open(id)))));
      if (items.some(({ id }) => id === current)) this.node.append(await this.#mail(current));
    });
  }
  /* A link that mails the transcript; of a long conversation its end. */
  async #mail(id) {
    const lines = [...await fromServer(this.#identity, `/${id}/transcript`, { accept: "text/plain" })];
    const body = `${lines.length > MOST_MAIL ? "…" : ""}${lines.slice(-MOST_MAIL).join("")}`;
    return make("a", { href: `mailto:?subject=${encodeURIComponent(host.title)}&body=${encodeURIComponent(body)}` }, words.mail);
  }
  #open(id) {
    if (this.#hasUnsent()) return this.#failed();
    this.#identity.kept.set("conversation", id);
    this.#restart();
  }
  /* Shows a conversation from before the sign-in here, since it cannot be continued. */
  async #read(id) {
    let pages = 0, cursor = null;
    do {
      const { items, next } = await messagesOf(this.#identity, id, cursor);
      this.#thread.before(items.map((message) => ({ ...message, still: true, actions: [], files: message.files?.map((file) => ({ ...file, of: id })) })));
      cursor = next;
    } while (cursor && ++pages < MOST_PAGES);
    this.node.hidden = true;
    this.#thread.node.scrollTop = 0;
  }
  async #try(action) { try { await action(); } catch { this.#failed(); } }
  #failed() { this.node.append(make("p", { role: "alert" }, words.notNow)); }
}
