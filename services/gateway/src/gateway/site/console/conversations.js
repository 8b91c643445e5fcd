/* The inbox's list as the server has it: read a page at a time, read anew when something in it has changed. */
import { get } from "./api.js";

const PAUSE = 700, LATER = 5_000, PAGE = 50;

export class Conversations {
  items = [];
  next = null;
  state = null;
  fault = null;
  loaded = false;
  waiting = 0;
  onChange = () => {};
  onCount = () => {};
  #timer = 0; #late = 0; #reading = false; #again = false; #ended = false; #pages = 1;

  start() { this.refresh(); }
  end() { this.#ended = true; clearTimeout(this.#timer); clearTimeout(this.#late); }

  /* state: null (all), ai, needs_human, stuck, mine */
  choose(state) {
    if (state === this.state && this.loaded) return;
    this.state = state;
    this.items = [];
    this.next = null;
    this.loaded = false;
    this.#pages = 1;
    this.onChange();
    this.refresh();
  }
  more() {
    this.#pages += 1;
    this.refresh();
  }
  /* Read soon, and once more later: on a busy day the list is a moment behind what was told. */
  frame(frame) {
    if (frame.type !== "inbox.changed") return;
    this.#soon();
    clearTimeout(this.#late);
    this.#late = setTimeout(() => this.refresh(), LATER);
  }

  /* One reading at a time; what changes during one is read after it. */
  async refresh() {
    if (this.#reading) { this.#again = true; return; }
    this.#reading = true;
    const state = this.state;
    try {
      const found = await this.#read(state);
      const waiting = await get("/v2/conversations?state=needs_human&limit=100");
      if (state === this.state) {
        Object.assign(this, { items: found.items, next: found.next, loaded: true, fault: null });
        this.waiting = waiting.items.length;
        this.onCount(this.waiting);
      }
    } catch (error) {
      this.fault = error.message;
      this.#soon(5_000);
    }
    this.#reading = false;
    if (this.#ended) return;
    this.onChange();
    if (this.#again) { this.#again = false; this.#soon(); }
  }
  async #read(state) {
    const items = [];
    let cursor = null;
    for (let page = 0; page < this.#pages; page += 1) {
      const query = new URLSearchParams({ limit: PAGE, ...(state && { state }), ...(cursor && { cursor }) });
      const found = await get(`/v2/conversations?${query}`);
      items.push(...found.items);
      cursor = found.next;
      if (!cursor) break;
    }
    return { items, next: cursor };
  }
  #soon(wait = PAUSE) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.refresh(), wait);
  }
}
