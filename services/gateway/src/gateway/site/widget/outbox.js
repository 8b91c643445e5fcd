/* The reader's messages that are not yet stored: kept in the browser, and sent again with the same id until they are. */
import { uuid } from "./storage.js";
import { fill, words } from "./i18n.js";
import { page, visited } from "./settings.js";

const UNANSWERED = 10_000, PAUSE = 2_000;

export class Outbox {
  #timers = new Map(); #kept; #send; #show; #late;

  /* send(type, fields) returns whether it could be sent; show(entry, state, why, again); late(): a message was not
     confirmed in time. */
  constructor(kept, send, show, late) {
    this.#kept = kept;
    this.#send = send;
    this.#show = show;
    this.#late = late;
  }
  get size() { return this.#kept.waiting().length; }

  add(text, files) {
    const entry = { id: uuid(), text, files: files?.map((file) => file.id), at: Date.now(), tried: false };
    this.#kept.keep(entry);
    this.#try(entry);
  }
  /* Sends the waiting messages in their order, when the page or the connection is ready. */
  flush() { for (const entry of this.#kept.waiting()) this.#try(entry); }
  held() { for (const entry of this.#kept.waiting()) { this.#pause(entry.id); this.#show(entry, "waiting"); } }
  forget() { for (const id of [...this.#timers.keys()]) this.#pause(id); }

  stored(id) {
    this.#pause(id);
    this.#kept.settle(id);
  }
  /* Handles an error about a message; returns whether it was about one of these. */
  refused({ ref, code, retryable, retryAfterMs }) {
    const entry = this.#kept.waiting().find((entry) => entry.id === ref);
    if (!entry) return false;
    this.#pause(ref);
    if (retryable) {
      const wait = retryAfterMs || PAUSE;
      this.#show(entry, "waiting", code === "RATE_LIMITED" ? fill(words.tooFast, { seconds: Math.ceil(wait / 1000) }) : "");
      this.#timers.set(ref, setTimeout(() => this.#try(entry), wait));
    } else {
      this.#kept.settle(ref);
      const reasons = { TEXT_TOO_LONG: words.tooLong, EMPTY_TEXT: words.emptyText };
      this.#show(entry, "failed", reasons[code] || words.refused, () => { this.#kept.keep(entry); this.#try(entry); });
    }
    return true;
  }

  #try(entry) {
    this.#pause(entry.id);
    const sent = this.#send("message.send", { clientMessageId: entry.id, text: entry.text, files: entry.files, page: page(), visited: visited(), ...(entry.tried && { retry: true }) });
    this.#show(entry, sent ? "sending" : "waiting");
    if (!sent) return;
    if (!entry.tried) { entry.tried = true; this.#kept.keep(entry); }
    this.#timers.set(entry.id, setTimeout(() => { this.#late(); this.#try(entry); }, UNANSWERED));
  }
  #pause(id) { clearTimeout(this.#timers.get(id)); this.#timers.delete(id); }
}
