/* Loads a view again when it is said to have changed: at most every PAUSE ms, one load at a time, and once more later,
   because the answer may be a moment behind the change. */
import { Problem } from "./api.js";
import { say } from "./i18n.js";

const PAUSE = 200, LATER = 5_000;

/* Why a view could not be loaded. If the server does not answer, the view is loaded again by itself. */
export const unread = ({ status, message }) => (status === 0 || status === 503 ? say("readAgain") : message);

export class Refresh {
  #read; #tell; #timer = 0; #late = 0; #busy = false; #again = false; #failed = false; #ended = false;

  /* read(whole) may raise: then it is tried again later. `whole`: not only what was told.
     tell(text): why nothing is read, and "" as soon as it is. */
  constructor(read, tell = () => {}) {
    this.#read = read;
    this.#tell = tell;
  }

  /* What is told while a reading is due waits for that one: a wait that began anew each time would never end. */
  told() {
    this.#soon(PAUSE);
    this.#late ||= setTimeout(() => { this.#late = 0; this.now(true); }, LATER);
  }
  async now(whole = false) {
    if (this.#busy) { this.#again ||= true; return; }
    this.#busy = true;
    clearTimeout(this.#timer);
    this.#timer = 0;
    try {
      await this.#read(whole);
      if (this.#failed && !this.#ended) this.#tell("");
      this.#failed = false;
    } catch (error) {
      if (!(error instanceof Problem)) reportError(error);
      else if (!this.#ended) this.#tell(unread(error));
      this.#failed = true;
      this.#soon(LATER);
    }
    this.#busy = false;
    if (this.#again) { this.#again = false; this.#soon(PAUSE); }
  }
  end() { this.#ended = true; clearTimeout(this.#timer); clearTimeout(this.#late); }

  #soon(wait) {
    if (!this.#ended) this.#timer ||= setTimeout(() => { this.#timer = 0; this.now(); }, wait);
  }
}
