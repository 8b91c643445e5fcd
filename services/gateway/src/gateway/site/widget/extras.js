/* What no page needs before a chat is opened (beside.js): loaded then, once. What waits for it is done when it is there, in
   its order; where the page forbids it or the line fails, words are all there is until it is tried again. */
import { LATER, shared } from "./later.js";
import { server } from "./settings.js";

let parts = null, loading = null, tries = 0;
const waiting = [];

/* then(parts): at once where they are there. */
export const extras = (then) => { if (parts) then(parts); else waiting.push(then); };

/* Says whether they are there. A browser may keep that an address failed: another try has another. */
export const loadExtras = () => loading ||= import(`${server}${LATER}${tries ? `&again=${tries}` : ""}`).then(({ beside }) => {
  parts = beside(shared());
  for (const then of waiting.splice(0)) then(parts);
  return true;
}, () => { loading = null; tries += 1; return false; });
