/* How far one has read each conversation, in this browser: the newest 2,000. */
const KEY = "nexus.console.seen", MOST = 2_000;

let known = null;
function all() {
  if (!known) {
    try { known = new Map(JSON.parse(localStorage.getItem(KEY) || "[]")); } catch { known = new Map(); }
  }
  return known;
}
addEventListener("storage", (event) => { if (event.key === KEY) known = null; });

/* Whether a visitor has written something there that one has not read. */
export function isUnread(item) {
  const last = item.lastMessage;
  return Boolean(last) && ["visitor", "user"].includes(last.role) && last.seq > (all().get(item.id) || 0);
}
export function markRead(id, seq) {
  const seen = all();
  if ((seen.get(id) || 0) >= seq) return false;
  seen.delete(id);
  seen.set(id, seq);
  while (seen.size > MOST) seen.delete(seen.keys().next().value);
  localStorage.setItem(KEY, JSON.stringify([...seen]));
  return true;
}
