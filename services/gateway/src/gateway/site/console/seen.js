/* Unread messages of visitors: the server's count for the signed-in agent, less what was read here since. */
let newestSeqs = new Map();
const read = new Map();

/* {conversation: seq of the visitor's newest message}, as just counted; null: unknown. */
export function setUnread(unread) {
  if (!unread) return;
  newestSeqs = new Map(Object.entries(unread));
  for (const id of read.keys()) if (!newestSeqs.has(id)) read.delete(id);
}
export const isUnread = ({ id }) => (newestSeqs.get(id) || 0) > (read.get(id) || 0);
export const unreadIds = () => [...newestSeqs.keys()].filter((id) => isUnread({ id }));
/* Returns whether it was unread. */
export function markRead(id, seq) {
  if ((read.get(id) || 0) >= seq) return false;
  read.set(id, seq);
  return true;
}
