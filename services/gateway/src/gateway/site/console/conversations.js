/* The inbox's list as the server has it: read page by page, and row by row for conversations that changed. */
import { get } from "./api.js";
import { Refresh, faultText } from "./refresh.js";
import { session } from "./session.js";
import { setUnread, unreadIds } from "./seen.js";

/* An agent who was not active for this long is not at the desk. */
const PRESENT_MS = 300_000;
let handAt = Date.now();
for (const kind of ["pointerdown", "pointermove", "keydown", "wheel"]) addEventListener(kind, () => { handAt = Date.now(); }, { passive: true });

const DAY_MS = 86_400_000;
const PAGE_SIZE = 50, MAX_SINGLE = 8, CLOSED_STATES = ["resolved", "snoozed"];
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
  #reading = new Refresh((isWhole) => this.#refresh(isWhole)); #changed = new Set(); #below = new Set(); #mustReadAll = true; #isAdding = false; #names = new Set();

  start() {
    this.#reading.now(true);
    document.addEventListener("visibilitychange", this.#onVisible);
  }
  end() {
    this.#reading.end();
    document.removeEventListener("visibilitychange", this.#onVisible);
  }
  /* No frame says what was read in another browser meanwhile. */
  #onVisible = () => { if (!document.hidden) this.#reading.now(true); };

  /* Chooses what is shown. days: with a message within so many days, 0 for any time; direction: null for the list's own. */
  choose({ list = "all", query = "", label = "", days = 0, direction = null }) {
    const listName = LISTS.includes(list) ? list : "all";
    if (this.loaded && listName === this.list && query === this.query && label === this.label && days === this.days && direction === this.direction) return;
    Object.assign(this, { list: listName, query, label, days, direction, items: [], next: null, loaded: false, complete: true });
    this.#mustReadAll = true;
    this.#below.clear();
    this.onChange();
    this.#reading.now(true);
  }
  /* Adds the next page to the list. */
  async more() {
    if (this.#isAdding || !this.next) return;
    this.#isAdding = true;
    const query = this.#query;
    try {
      const page = await this.#read(this.next);
      if (query === this.#query) {
        const ids = new Set(this.items.map((item) => item.id));
        this.items.push(...page.items.filter((item) => !ids.has(item.id)));
        this.next = page.next;
      }
    } catch (error) { this.fault = faultText(error); }
    this.#isAdding = false;
    this.#notify();
  }
  frame(frame) {
    if (frame.type !== "inbox.changed") return;
    if (!frame.conversationIds.length) this.#mustReadAll = true;
    for (const id of frame.conversationIds) this.#changed.add(id);
    this.#reading.changed();
  }
  /* Replaces one row by its newest state, wherever that was read. */
  put(item) {
    if (this.query || this.label) {
      // Only the server knows whether it matches the search: the row stays in place until the server is asked again.
      const index = this.items.findIndex((row) => row.id === item.id);
      if (index >= 0) this.items.splice(index, 1, ...(this.#belongs(item) ? [item] : []));
      this.#notify();
      return;
    }
    this.items = this.items.filter((row) => row.id !== item.id);
    if (this.#belongs(item)) {
      const place = this.items.findIndex((row) => this.#comesBefore(item, row));
      // There may be others after the last row shown: the row then comes with its page.
      if (place >= 0 || !this.next) this.items.splice(place >= 0 ? place : this.items.length, 0, item);
    }
    this.#notify();
  }
  get waiting() { return this.counts.needsHuman || 0; }
  /* Calls the listener with the number of unseen notes that mention the agent, at each count. */
  onNames(listener) { this.#names.add(listener); listener(this.counts.named || 0); return () => this.#names.delete(listener); }
  namesSeen() { this.counts.named = 0; this.#notify(); }
  get unread() { return unreadIds().length; }
  /* asc: the longest wait first, or the oldest last message. */
  get turned() { return this.direction || (this.list === "needs_human" ? "asc" : "desc"); }
  read() { this.#notify(); }

  async #refresh(isWhole) {
    const query = this.#query;
    const changed = [...this.#changed];
    this.#changed.clear();
    try {
      if (isWhole || this.#mustReadAll || this.query || this.label || changed.length > MAX_SINGLE) {
        const readsAll = this.#mustReadAll;
        this.#mustReadAll = false;
        const page = await this.#read(null);
        if (query !== this.#query) { this.#mustReadAll = true; return; }
        // Rows below the first page stay as they are and are read one by one; so do rows that were pushed out of it.
        const first = new Set(page.items.map((item) => item.id)), last = page.items.at(-1);
        const below = readsAll || !page.next ? [] : this.items.filter((item) => !first.has(item.id) && this.#comesBefore(last, item));
        const changedIds = new Set(changed);
        for (const { id } of below) if (changedIds.has(id)) this.#below.add(id);
        Object.assign(this, {
          items: [...page.items, ...below], next: below.length ? this.next : page.next, complete: page.complete !== false, loaded: true, fault: null,
        });
        await this.#readBelow();
      } else {
        for (const id of changed) await this.#readOne(id);
      }
      this.counts = await get(`/v2/conversations/counts?present=${Date.now() - handAt < PRESENT_MS}`);
      setUnread(this.counts.unread);
      this.onCounted();
      this.fault = null;
    } catch (error) {
      this.#mustReadAll = true;
      this.fault = faultText(error);
      throw error;
    } finally { this.#notify(); }
  }
  /* Reads changed rows below the first page, a few at a time. */
  async #readBelow() {
    for (const id of [...this.#below].slice(0, MAX_SINGLE)) {
      this.#below.delete(id);
      await this.#readOne(id);
    }
    if (this.#below.size) this.#reading.changed();
  }
  async #readOne(id) {
    try {
      this.put(await get(`/v2/conversations/${encodeURIComponent(id)}`));
    } catch (error) {
      if (error.status !== 404) throw error;
      this.items = this.items.filter((row) => row.id !== id);
    }
  }
  #notify() {
    this.onCount(this.waiting, this.unread);
    for (const listener of this.#names) listener(this.counts.named || 0);
    this.onChange();
  }
  #belongs(item) {
    const open = !CLOSED_STATES.includes(item.state);
    if (this.list === "all") return true;
    if (this.list === "mine") return open && item.assignee === session.who?.subject;
    if (this.list === "unassigned") return open && !item.assignee;
    return item.state === this.list;
  }
  #comesBefore(item, other) {
    const key = (item) => (this.list === "needs_human" ? item.waitingSince : null) || item.lastMessage?.createdAt || item.startedAt;
    return this.turned === "asc" ? key(item) < key(other) : key(item) > key(other);
  }
  /* The current choice as one string: the reply to an earlier one is dropped. */
  get #query() { return JSON.stringify([this.list, this.query, this.label, this.days, this.direction]); }
  #read(cursor) {
    return get(`/v2/conversations?${new URLSearchParams({
      limit: PAGE_SIZE, state: this.list, ...(this.query && { q: this.query }), ...(this.label && { label: this.label }),
      ...(this.days && { since: new Date(Date.now() - this.days * DAY_MS).toISOString() }), ...(this.direction && { order: this.direction }), ...(cursor && { cursor }),
    })}`);
  }
}
