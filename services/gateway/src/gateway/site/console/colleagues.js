/* Colleagues who can be named in a note: for a picker, an @ and the beginning of a name. */
import { get } from "./api.js";
import { say } from "./words-of.js";

const MOST_SHOWN = 8, NAMED = /(?:^|[^\p{L}\p{N}_@.])@([\p{L}\p{N}_.-]{0,40})$/u;
const folded = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

/* onPick(typed, mention): what stands behind the @ now, and what is to stand there. wanted(): whether one writes a note. */
export function colleagueSource(mine, wanted, onPick) {
  let colleagues = null;
  return async (before) => {
    const asked = wanted() && NAMED.exec(before);
    if (!asked) return null;
    colleagues ||= get("/v2/colleagues").then(({ items }) => items).catch(() => { colleagues = null; return []; });
    const typed = folded(asked[1]);
    // By the beginning of any of their names, or of their id.
    const found = (await colleagues).filter((one) => one.userId !== mine
      && [one.mention, one.userId, ...(one.name || "").split(/\s+/)].some((name) => folded(name).startsWith(typed)));
    return {
      label: say("colleagues"),
      options: found.slice(0, MOST_SHOWN).map((one) => ({ title: one.name || one.userId, text: `@${one.mention}`, pick: () => onPick(asked[1], one.mention) })),
    };
  };
}
