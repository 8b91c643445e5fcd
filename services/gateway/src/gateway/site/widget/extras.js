/* Loads beside.js, which no page needs before a chat is opened, once. Work that needs it waits and is then done in order.
   If the page forbids it or the connection fails, only texts are shown until it is tried again. */
import { LATER, shared } from "./later.js";
import { server } from "./settings.js";

let parts = null, loading = null, tries = 0;
const waiting = [];

/* Calls then(parts) as soon as they are loaded. */
export const extras = (then) => { if (parts) then(parts); else waiting.push(then); };

/* Resolves to whether they are loaded. A browser may remember that an address failed, so another try uses another one. */
export const loadExtras = () => loading ||= import(`${server}${LATER}${tries ? `&again=${tries}` : ""}`).then(({ beside }) => {
  parts = beside(shared());
  for (const then of waiting.splice(0)) then(parts);
  return true;
}, () => { loading = null; tries += 1; return false; });
