/* Who types in a conversation or looks at it: each sign counts for its while, and a message is the end of its writing. */
import { say } from "./i18n.js";

const LOOKS = 30_000; // for which somebody who has read is taken to look

export class Presence {
  #signs = new Map(); #changed; #tick = 0;

  /* changed(): somebody has come or gone. */
  constructor(changed) { this.#changed = changed; }
  end() { clearInterval(this.#tick); }

  /* [{name, types}]; a visitor has no name here. */
  of(id) { return [...this.#signs.get(id)?.values() || []].map(({ name, types }) => ({ name, types })); }

  frame({ type, actor, conversationId, name, expiresInMs, message, conversationIds }) {
    const who = actor === "operator" ? name || say("short_operator") : "";
    if (type === "typing") this.#sign(conversationId, who, expiresInMs, true);
    else if (type === "receipt" && who) this.#sign(conversationId, who, LOOKS, false);
    else if (type === "message.created" && ["visitor", "user"].includes(message.role)) this.#over([conversationId]);
    else if (type === "inbox.changed") this.#over(conversationIds);
  }
  #sign(id, name, lasts, types) {
    const there = this.#signs.get(id) || new Map(), known = there.get(name), now = Date.now();
    if (known?.types && !types && known.until > now) return; // whoever types looks, too
    there.set(name, { name, types, until: now + lasts });
    this.#signs.set(id, there);
    this.#tick ||= setInterval(() => this.#drop((sign) => sign.until < Date.now()), 1000);
    if (known?.types !== types) this.#changed();
  }
  #over(ids) { this.#drop((sign) => !sign.name, ids); }
  #drop(which, ids = [...this.#signs.keys()]) {
    let dropped = false;
    for (const id of ids) {
      const there = this.#signs.get(id) || new Map();
      for (const [name, sign] of there) if (which(sign)) dropped = there.delete(name);
      if (!there.size) this.#signs.delete(id);
    }
    if (!this.#signs.size) { clearInterval(this.#tick); this.#tick = 0; }
    if (dropped) this.#changed();
  }
}
