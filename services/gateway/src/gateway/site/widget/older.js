/* Older messages than the newest page, loaded when the reader scrolls up; and calls of the conversations' API. */
import { server } from "./settings.js";

const PAGE = 50;
const EDGE = 200; // pixels from the top

/* Calls the API of this person's conversations; raises an error if it fails. */
export async function fromServer(identity, path = "", options = {}) {
  const { accept = "application/json" } = options, headers = { accept, authorization: `Bearer ${await identity.token()}`, "content-type": "application/json" };
  const answer = await fetch(`${server}/v2/conversations${path}`, { headers, ...options });
  if (!answer.ok) throw new Error(answer.status);
  return accept === "text/plain" ? answer.text() : answer.json();
}
export const messagesOf = (identity, id, cursor) => fromServer(identity, `/${id}/messages?latest=true&limit=${PAGE}${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ""}`);

export function older(identity, thread) {
  let of = "", cursor = null, done = false, busy = false;
  const look = async () => {
    // A chat that does not fill its pane has nothing older: pages of long messages have fewer than PAGE.
    if (busy || thread.node.scrollTop > EDGE || thread.node.scrollHeight <= thread.node.clientHeight) return;
    const id = identity.kept.get("conversation"), shown = `${id} ${thread.round}`;
    if (shown !== of) { of = shown; cursor = null; done = false; }
    if (done) return;
    busy = true;
    try {
      // The first page is usually shown already.
      for (let isNew = false; !isNew && !done;) {
        const { items, events, next } = await messagesOf(identity, id, cursor);
        if (shown !== `${identity.kept.get("conversation")} ${thread.round}`) break;
        isNew = thread.before(items, events || []);
        cursor = next;
        done = !next;
      }
    } catch { /* the next scroll tries again */ }
    busy = false;
  };
  thread.node.addEventListener("scroll", look, { passive: true });
  look(); // a reader who is at the top already cannot scroll
}
