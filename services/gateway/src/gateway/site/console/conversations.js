/* The inbox's list as the server has it: read a page at a time, read anew when something in it has changed. */
import { get } from "./api.js";
import { Reading } from "./reading.js";

const PAGE = 50;

export class Conversations {
  items = [];
  next = null;
  state = null;
  fault = null;
  loaded = false;
  waiting = 0;
  onChange = () => {};
  onCount = () => {};
  #reading = new Reading(() => this.#refresh()); #pages = 1;

  start() { this.#reading.now(); }
  end() { this.#reading.end(); }

  /* state: null (all), ai, needs_human, stuck, mine */
  choose(state) {
    if (state === this.state && this.loaded) return;
    this.state = state;
    this.items = [];
    this.next = null;
    this.loaded = false;
    this.#pages = 1;
    this.onChange();
    this.#reading.now();
  }
  more() {
    this.#pages += 1;
    this.#reading.now();
  }
  frame(frame) { if (frame.type === "inbox.changed") this.#reading.told(); }

  async #refresh() {
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
      throw error;
    } finally { this.onChange(); }
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
}
