/* The inbox's list as the server has it: read a page at a time, and row by row what was told to have changed. */
import { get } from "./api.js";
import { Refresh, unread } from "./refresh.js";
import { session } from "./session.js";
import { tellUnread, unreadIds } from "./seen.js";

/* Whoever has had no hand at the page for so long is not at the desk. */
const PRESENT = 300_000;
let handAt = Date.now();
for (const kind of ["pointerdown", "pointermove", "keydown", "wheel"]) addEventListener(kind, () => { handAt = Date.now(); }, { passive: true });

const DAY = 86_400_000;
const PAGE = 50, MOST_SINGLE = 8, OVER = ["resolved", "snoozed"];
export const LISTS = ["all", "needs_human", "mine", "unassigned", "ai", "stuck", "snoozed", "resolved"];

export class Conversations {
  items = [];
  next = null;
  list = "all";
  query = "";
  label = "";
  days = 0;
  direction = null;
  fault = null;
  loaded = false;
  complete = true;
  counts = {};
  onChange = () => {};
  onCount = () => {};
  onCounted = () => {};
  #reading = new Refresh((whole) => this.#refresh(whole)); #changed = new Set(); #below = new Set(); #all = true; #adding = false; #names = new Set();

  start() {
    this.#reading.now(true);
    document.addEventListener("visibilitychange", this.#looked);
  }
  end() {
    this.#reading.end();
    document.removeEventListener("visibilitychange", this.#looked);
  }
  /* What one has read elsewhere meanwhile nobody tells. */
  #looked = () => { if (!document.hidden) this.#reading.now(true); };

  /* {list, query, label, days, direction}: what is shown from now on; days: with a message within so many, 0: whenever;
     direction null is the list's own. */
  choose({ list = "all", query = "", label = "", days = 0, direction = null }) {
    const known = LISTS.includes(list) ? list : "all";
    if (this.loaded && known === this.list && query === this.query && label === this.label && days === this.days && direction === this.direction) return;
    Object.assign(this, { list: known, query, label, days, direction, items: [], next: null, loaded: false, complete: true });
    this.#all = true;
    this.#below.clear();
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
    } catch (error) { this.fault = unread(error); }
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
  /* Notes that name whoever is signed in, and that they have not seen: told with each count. */
  onNames(listener) { this.#names.add(listener); listener(this.counts.named || 0); return () => this.#names.delete(listener); }
  namesSeen() { this.counts.named = 0; this.#tell(); }
  get unread() { return unreadIds().length; }
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
        // What lies below the first page stays as it was told to be, row by row, and what was pushed out of it, too.
        const first = new Set(found.items.map((item) => item.id)), last = found.items.at(-1);
        const below = anew || !found.next ? [] : this.items.filter((item) => !first.has(item.id) && this.#before(last, item));
        const told = new Set(changed);
        for (const { id } of below) if (told.has(id)) this.#below.add(id);
        Object.assign(this, {
          items: [...found.items, ...below], next: below.length ? this.next : found.next, complete: found.complete !== false, loaded: true, fault: null,
        });
        await this.#readBelow();
      } else {
        for (const id of changed) await this.#one(id);
      }
      this.counts = await get(`/v2/conversations/counts?present=${Date.now() - handAt < PRESENT}`);
      tellUnread(this.counts.unread);
      this.onCounted();
      this.fault = null;
    } catch (error) {
      this.#all = true;
      this.fault = unread(error);
      throw error;
    } finally { this.#tell(); }
  }
  /* Rows below the first page that have changed, a few at a time. */
  async #readBelow() {
    for (const id of [...this.#below].slice(0, MOST_SINGLE)) {
      this.#below.delete(id);
      await this.#one(id);
    }
    if (this.#below.size) this.#reading.told();
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
    for (const listener of this.#names) listener(this.counts.named || 0);
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
  get #asked() { return JSON.stringify([this.list, this.query, this.label, this.days, this.direction]); }
  #read(cursor) {
    return get(`/v2/conversations?${new URLSearchParams({
      limit: PAGE, state: this.list, ...(this.query && { q: this.query }), ...(this.label && { label: this.label }),
      ...(this.days && { since: new Date(Date.now() - this.days * DAY).toISOString() }), ...(this.direction && { order: this.direction }), ...(cursor && { cursor }),
    })}`);
  }
}
