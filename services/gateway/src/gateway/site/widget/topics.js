/* A person's topics: a new one, and the earlier ones to go back to; and this one by e-mail. */
import { button, make } from "./dom.js";
import { fromServer, messagesOf } from "./older.js";
import { words } from "./i18n.js";
import { host } from "./settings.js";

const MOST_PAGES = 10, MOST_MAIL = 1500; // characters: some mail programs take no longer address

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
      if (items.some(({ id }) => id === now)) this.node.append(await this.#mail(now));
    });
  }
  /* What was said as a message in one's own mail program; of a long conversation its end. */
  async #mail(id) {
    const said = [...await fromServer(this.#identity, `/${id}/transcript`, { accept: "text/plain" })];
    const body = `${said.length > MOST_MAIL ? "…" : ""}${said.slice(-MOST_MAIL).join("")}`;
    return make("a", { href: `mailto:?subject=${encodeURIComponent(host.title)}&body=${encodeURIComponent(body)}` }, words.mail);
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
