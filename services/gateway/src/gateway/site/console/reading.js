/* Reading anew what was told to have changed: soon, one reading at a time, and once more later, since on a busy day
   what is read is a moment behind what was told. */
const PAUSE = 700, LATER = 5_000;

export class Reading {
  #read; #timer = 0; #late = 0; #busy = false; #again = false; #ended = false;

  /* read() may raise: then it is tried again later. */
  constructor(read) { this.#read = read; }

  told() {
    this.#soon(PAUSE);
    clearTimeout(this.#late);
    this.#late = setTimeout(() => this.now(), LATER);
  }
  async now() {
    if (this.#busy) { this.#again = true; return; }
    this.#busy = true;
    try { await this.#read(); } catch { this.#soon(LATER); }
    this.#busy = false;
    if (this.#again) { this.#again = false; this.#soon(PAUSE); }
  }
  end() { this.#ended = true; clearTimeout(this.#timer); clearTimeout(this.#late); }

  #soon(wait) {
    clearTimeout(this.#timer);
    if (!this.#ended) this.#timer = setTimeout(() => this.now(), wait);
  }
}
