/* Loads a view again after a change: at most every PAUSE_MS, one load at a time, and once more later, because the reply
   may be older than the change. */
import { Problem } from "./api.js";
import { say } from "./i18n.js";

const PAUSE_MS = 200, LATER_MS = 5_000;

/* Why a view could not be loaded. If the server does not reply, the view is loaded again later. */
export const faultText = ({ status, message }) => (status === 0 || status === 503 ? say("readAgain") : message);

export class Refresh {
  #read; #onFault; #timer = 0; #late = 0; #busy = false; #repeat = false; #failed = false; #ended = false;

  /* read(isWhole) may raise: it is then repeated later. isWhole: not only what was reported as changed. onFault(text):
     why nothing could be read, and "" when it can be again. */
  constructor(read, onFault = () => {}) {
    this.#read = read;
    this.#onFault = onFault;
  }

  /* A change reported while a load is due waits for that one: a wait that started again each time might never end. */
  changed() {
    this.#soon(PAUSE_MS);
    this.#late ||= setTimeout(() => { this.#late = 0; this.now(true); }, LATER_MS);
  }
  async now(isWhole = false) {
    if (this.#busy) { this.#repeat ||= true; return; }
    this.#busy = true;
    clearTimeout(this.#timer);
    this.#timer = 0;
    try {
      await this.#read(isWhole);
      if (this.#failed && !this.#ended) this.#onFault("");
      this.#failed = false;
    } catch (error) {
      if (!(error instanceof Problem)) reportError(error);
      else if (!this.#ended) this.#onFault(faultText(error));
      this.#failed = true;
      this.#soon(LATER_MS);
    }
    this.#busy = false;
    if (this.#repeat) { this.#repeat = false; this.#soon(PAUSE_MS); }
  }
  end() { this.#ended = true; clearTimeout(this.#timer); clearTimeout(this.#late); }

  #soon(wait) {
    if (!this.#ended) this.#timer ||= setTimeout(() => { this.#timer = 0; this.now(); }, wait);
  }
}
