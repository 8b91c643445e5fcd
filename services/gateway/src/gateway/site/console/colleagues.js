/* Colleagues who can be named in a note: for a picker, an @ and the beginning of a name. */
import { get } from "./api.js";
import { say } from "./i18n.js";

const MOST_SHOWN = 8, NAMED = /(?:^|[^\p{L}\p{N}_@.])@([\p{L}\p{N}_.-]{0,40})$/u;
const folded = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

const FRESH = 30_000, AGAIN = 2_000;
let asked = 0, known = null;
/* The company's, as they were less than half a minute ago; none while the server does not answer. */
export function colleagues(fresh = FRESH) {
  if (!known || Date.now() - asked > fresh) {
    asked = Date.now();
    known = get("/v2/colleagues").then(({ items }) => items).catch(() => { known = null; return []; });
  }
  return known;
}

/* onPick(typed, mention): what stands behind the @ now, and what is to stand there. wanted(): whether one writes a note. */
export function colleagueSource(mine, wanted, onPick) {
  return async (before) => {
    const begun = wanted() && NAMED.exec(before);
    if (!begun) return null;
    const typed = folded(begun[1]);
    // By the beginning of any of their names, or of their id.
    const fits = (one) => one.userId !== mine
      && [one.mention, one.userId, ...(one.name || "").split(/\s+/)].some((name) => folded(name).startsWith(typed));
    let found = (await colleagues()).filter(fits);
    // Somebody who has just come.
    if (!found.length) found = (await colleagues(AGAIN)).filter(fits);
    return {
      label: say("colleagues"),
      options: found.slice(0, MOST_SHOWN).map((one) => ({ title: one.name || one.userId, text: `@${one.mention}`, pick: () => onPick(begun[1], one.mention) })),
    };
  };
}
