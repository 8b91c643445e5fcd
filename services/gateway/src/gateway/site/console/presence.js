/* Who is typing in a conversation or looking at it: each sign counts for some time, and a message ends the typing. */
import { session } from "./session.js";
import { say } from "./i18n.js";

const LOOKING_MS = 30_000; // for so long somebody who has read is taken to be looking

export class Presence {
  #signs = new Map(); #changed; #tick = 0;

  /* changed(): somebody began or stopped. */
  constructor(changed) { this.#changed = changed; }
  end() { clearInterval(this.#tick); }

  /* Returns [{name, types}]; a visitor's name is "". */
  of(id) { return [...this.#signs.get(id)?.values() || []].map(({ name, types }) => ({ name, types })); }

  frame({ type, actor, conversationId, name, expiresInMs, message, conversationIds }) {
    if (name && name === session.who?.name) return; // another tab of the agent's own
    const person = actor === "operator" ? name || say("short_operator") : "";
    if (type === "typing") this.#sign(conversationId, person, expiresInMs, true);
    else if (type === "receipt" && person) this.#sign(conversationId, person, LOOKING_MS, false);
    else if (type === "message.created" && ["visitor", "user"].includes(message.role)) this.#endWriting([conversationId]);
    else if (type === "inbox.changed") this.#endWriting(conversationIds);
  }
  #sign(id, name, lasts, types) {
    const signs = this.#signs.get(id) || new Map(), previous = signs.get(name), now = Date.now();
    if (previous?.types && !types && previous.until > now) return; // who is typing is looking, too
    signs.set(name, { name, types, until: now + lasts });
    this.#signs.set(id, signs);
    this.#tick ||= setInterval(() => this.#removeWhere((sign) => sign.until < Date.now()), 1000);
    if (previous?.types !== types) this.#changed();
  }
  #endWriting(ids) { this.#removeWhere((sign) => !sign.name, ids); }
  #removeWhere(which, ids = [...this.#signs.keys()]) {
    let dropped = false;
    for (const id of ids) {
      const signs = this.#signs.get(id) || new Map();
      for (const [name, sign] of signs) if (which(sign)) dropped = signs.delete(name);
      if (!signs.size) this.#signs.delete(id);
    }
    if (!this.#signs.size) { clearInterval(this.#tick); this.#tick = 0; }
    if (dropped) this.#changed();
  }
}
