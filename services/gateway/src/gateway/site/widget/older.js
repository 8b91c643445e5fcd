/* What was said before what a chat begins with: older messages as one scrolls up to them. And asking the server for such. */
import { server } from "./settings.js";

const PAGE = 50; // as many as a chat begins with
const EDGE = 200; // pixels from the top

/* What the server says of this person's conversations; raises where it does not. */
export async function fromServer(identity, path = "", how = {}) {
  const { accept = "application/json" } = how, headers = { accept, authorization: `Bearer ${await identity.token()}`, "content-type": "application/json" };
  const answer = await fetch(`${server}/v2/conversations${path}`, { headers, ...how });
  if (!answer.ok) throw new Error(answer.status);
  return accept === "text/plain" ? answer.text() : answer.json();
}
export const messagesOf = (identity, id, cursor) => fromServer(identity, `/${id}/messages?latest=true&limit=${PAGE}${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ""}`);

export function older(identity, thread) {
  let of = "", cursor = null, done = false, busy = false;
  const look = async () => {
    if (busy || thread.node.scrollTop > EDGE || thread.list.childElementCount < PAGE) return;
    const id = identity.kept.get("conversation"), now = `${id} ${thread.round}`;
    if (now !== of) { of = now; cursor = null; done = false; }
    if (done) return;
    busy = true;
    try {
      // The first page is the one that the chat began with.
      for (let more = false; !more && !done;) {
        const { items, events, next } = await messagesOf(identity, id, cursor);
        if (now !== `${identity.kept.get("conversation")} ${thread.round}`) break;
        more = thread.before(items, events || []);
        cursor = next;
        done = !next;
      }
    } catch { /* the next scroll tries again */ }
    busy = false;
  };
  thread.node.addEventListener("scroll", look, { passive: true });
  look(); // whoever is at the top already scrolls no further
}
