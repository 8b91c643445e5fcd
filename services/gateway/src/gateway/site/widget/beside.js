/* What stands beside words, and the earlier topics: a script of its own, which extras.js loads when a chat is opened. */
import { bubble, proactive } from "./bubble.js";
import { ActionCard, alertCard, citations } from "./cards.js";
import { chart } from "./charts.js";
import { feedback } from "./feedback.js";
import { offers } from "./offers.js";
import { older } from "./older.js";
import { scoring } from "./scoring.js";
import { BESIDE } from "./style.js";
import { Topics } from "./topics.js";

/* Under a message: its charts, orders and sources, and whether it helped. `hooks` as in thread.js. */
function complete(one, message, cards, { rated, rate, scored, score, ...words }) {
  const drawn = (message.charts || []).map(chart).filter(Boolean);
  const sources = citations(message.citations || []);
  const asked = message.code === "RATING_ASKED" && !message.still ? [scoring(scored, score)] : [];
  one.extras.append(...drawn, ...cards, ...(sources ? [sources] : []), ...asked);
  if (one.role !== "assistant" || message.still) return;
  offers(one.body, words);
  one.meta.append(feedback(rated, rate));
}

export const beside = { ActionCard, alertCard, bubble, complete, older, proactive, style: BESIDE, Topics };
