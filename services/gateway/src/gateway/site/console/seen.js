/* What visitors have written and one has not read: as the server tells it for whoever is signed in, in whatever browser,
   less what one has read here since. */
let told = new Map();
const read = new Map();

/* {conversation: place of the visitor's newest message}, as counted just now; null: it cannot be told. */
export function tellUnread(unread) {
  if (!unread) return;
  told = new Map(Object.entries(unread));
  for (const id of read.keys()) if (!told.has(id)) read.delete(id);
}
export const isUnread = ({ id }) => (told.get(id) || 0) > (read.get(id) || 0);
export const unreadIds = () => [...told.keys()].filter((id) => isUnread({ id }));
/* Whether that is news. */
export function markRead(id, seq) {
  if ((read.get(id) || 0) >= seq) return false;
  read.set(id, seq);
  return true;
}
