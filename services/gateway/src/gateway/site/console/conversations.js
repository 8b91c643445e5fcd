/* The inbox's list as the server has it: read a page at a time, and row by row what was told to have changed. */
import { get } from "./api.js";
import { Reading } from "./reading.js";
import { session } from "./session.js";
import { isUnread } from "./seen.js";

const PAGE = 50, MOST_SINGLE = 8, OVER = ["resolved", "snoozed"];
export const LISTS = ["all", "needs_human", "mine", "unassigned", "ai", "stuck", "snoozed", "resolved"];

export class Conversations {
  items = [];
  next = null;
  list = "all";
  query = "";
  label = "";
  direction = null;
  fault = null;
  loaded = false;
  complete = true;
  counts = {};
  onChange = () => {};
  onCount = () => {};
  #reading = new Reading((whole) => this.#refresh(whole)); #changed = new Set(); #all = true; #adding = false;

  start() { this.#reading.now(true); }
  end() { this.#reading.end(); }

  /* {list, query, label, direction}: what is shown from now on; direction null is the list's own. */
  choose({ list = "all", query = "", label = "", direction = null }) {
    const known = LISTS.includes(list) ? list : "all";
    if (this.loaded && known === this.list && query === this.query && label === this.label && direction === this.direction) return;
    Object.assign(this, { list: known, query, label, direction, items: [], next: null, loaded: false, complete: true });
    this.#all = true;
    this.onChange();
    this.#reading.now(true);
  }
  /* The next page, behind what is there. */
  async more() {
    if (this.#adding || !this.next) return;
    this.#adding = true;
    const asked = this.#asked;
    try {
      const found = await this.#read(this.next);
      if (asked === this.#asked) {
        const known = new Set(this.items.map((item) => item.id));
        this.items.push(...found.items.filter((item) => !known.has(item.id)));
        this.next = found.next;
      }
    } catch (error) { this.fault = error.message; }
    this.#adding = false;
    this.#tell();
  }
  frame(frame) {
    if (frame.type !== "inbox.changed") return;
    if (!frame.conversationIds.length) this.#all = true;
    for (const id of frame.conversationIds) this.#changed.add(id);
    this.#reading.told();
  }
  /* One row as it is now, from wherever it was read. */
  put(item) {
    if (this.query || this.label) {
      // Whether it is found by the words the server knows: until it is asked again, a row stays where it is.
      const at = this.items.findIndex((one) => one.id === item.id);
      if (at >= 0) this.items.splice(at, 1, ...(this.#belongs(item) ? [item] : []));
      this.#tell();
      return;
    }
    this.items = this.items.filter((one) => one.id !== item.id);
    if (this.#belongs(item)) {
      const place = this.items.findIndex((one) => this.#before(item, one));
      // Behind the last row that is shown there may be others: it comes with its page.
      if (place >= 0 || !this.next) this.items.splice(place >= 0 ? place : this.items.length, 0, item);
    }
    this.#tell();
  }
  get waiting() { return this.counts.needsHuman || 0; }
  get unread() { return this.items.filter(isUnread).length; }
  /* asc: who has waited longest, or whose newest message is oldest, comes first. */
  get turned() { return this.direction || (this.list === "needs_human" ? "asc" : "desc"); }
  read() { this.#tell(); }

  async #refresh(whole) {
    const asked = this.#asked;
    const changed = [...this.#changed];
    this.#changed.clear();
    try {
      if (whole || this.#all || this.query || this.label || changed.length > MOST_SINGLE) {
        const anew = this.#all;
        this.#all = false;
        const found = await this.#read(null);
        if (asked !== this.#asked) { this.#all = true; return; }
        // Pages further down stay as they were told to be, row by row; only the first one is looked at again.
        const first = new Set(found.items.map((item) => item.id));
        const below = anew || !found.next ? [] : this.items.slice(PAGE).filter((item) => !first.has(item.id));
        Object.assign(this, {
          items: [...found.items, ...below], next: below.length ? this.next : found.next, complete: found.complete !== false, loaded: true, fault: null,
        });
      } else {
        for (const id of changed) await this.#one(id);
      }
      this.counts = await get("/v2/conversations/counts");
      this.fault = null;
    } catch (error) {
      this.#all = true;
      this.fault = error.message;
      throw error;
    } finally { this.#tell(); }
  }
  async #one(id) {
    try {
      this.put(await get(`/v2/conversations/${encodeURIComponent(id)}`));
    } catch (error) {
      if (error.status !== 404) throw error;
      this.items = this.items.filter((one) => one.id !== id);
    }
  }
  #tell() {
    this.onCount(this.waiting, this.unread);
    this.onChange();
  }
  #belongs(item) {
    const open = !OVER.includes(item.state);
    if (this.list === "all") return true;
    if (this.list === "mine") return open && item.assignee === session.who?.subject;
    if (this.list === "unassigned") return open && !item.assignee;
    return item.state === this.list;
  }
  #before(one, other) {
    const key = (item) => (this.list === "needs_human" ? item.waitingSince : null) || item.lastMessage?.createdAt || item.startedAt;
    return this.turned === "asc" ? key(one) < key(other) : key(one) > key(other);
  }
  /* What is shown now, as one word: what comes of an earlier question is not shown. */
  get #asked() { return JSON.stringify([this.list, this.query, this.label, this.direction]); }
  #read(cursor) {
    return get(`/v2/conversations?${new URLSearchParams({
      limit: PAGE, state: this.list, ...(this.query && { q: this.query }), ...(this.label && { label: this.label }),
      ...(this.direction && { order: this.direction }), ...(cursor && { cursor }),
    })}`);
  }
}
