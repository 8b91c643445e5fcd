/* Colleagues who can be mentioned in a note: suggestions for an @ and the beginning of a name. */
import { get } from "./api.js";
import { say } from "./i18n.js";

const MAX_SHOWN = 8, NAMED = /(?:^|[^\p{L}\p{N}_@.])@([\p{L}\p{N}_.-]{0,40})$/u;
const folded = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

const FRESH_MS = 30_000, RETRY_MS = 2_000;
let readAt = 0, cached = null;
/* The company's colleagues, read at most half a minute ago; none while the server does not reply. */
export function colleagues(maxAge = FRESH_MS) {
  if (!cached || Date.now() - readAt > maxAge) {
    readAt = Date.now();
    cached = get("/v2/colleagues").then(({ items }) => items).catch(() => { cached = null; return []; });
  }
  return cached;
}

/* onPick(typed, mention): the text behind the @, and the mention to put there. isNote(): whether a note is being written. */
export function colleagueSource(userId, isNote, onPick) {
  return async (textBefore) => {
    const match = isNote() && NAMED.exec(textBefore);
    if (!match) return null;
    const typed = folded(match[1]);
    // Matches the beginning of any part of the name, or of the id.
    const fits = (colleague) => colleague.userId !== userId
      && [colleague.mention, colleague.userId, ...(colleague.name || "").split(/\s+/)].some((name) => folded(name).startsWith(typed));
    let matches = (await colleagues()).filter(fits);
    // A colleague may have been added just now.
    if (!matches.length) matches = (await colleagues(RETRY_MS)).filter(fits);
    return {
      label: say("colleagues"),
      options: matches.slice(0, MAX_SHOWN).map((colleague) => ({ title: colleague.name || colleague.userId, text: `@${colleague.mention}`, pick: () => onPick(match[1], colleague.mention) })),
    };
  };
}
