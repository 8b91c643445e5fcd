/* The parts beside the messages' text, and the earlier topics: a script of its own, which extras.js loads when a chat is
   opened. */
import { bubble, proactive } from "./bubble.js";
import { ActionCard, alertCard, citations } from "./cards.js";
import { chart } from "./charts.js";
import { feedback } from "./feedback.js";
import { offers } from "./offers.js";
import { older } from "./older.js";
import { scoring } from "./scoring.js";
import { BESIDE } from "./style.js";
import { Topics } from "./topics.js";

/* Adds to a message its charts, orders and sources, and the question whether it helped. For the last argument see
   thread.js. */
function complete(row, message, cards, { rated, rate, scored, score, ...words }) {
  const drawings = (message.charts || []).map(chart).filter(Boolean);
  const sources = citations(message.citations || []);
  const rating = message.code === "RATING_ASKED" && !message.still ? [scoring(scored, score)] : [];
  row.extras.append(...drawings, ...cards, ...(sources ? [sources] : []), ...rating);
  if (row.role !== "assistant" || message.still) return;
  offers(row.body, words);
  row.meta.append(feedback(rated, rate));
}

export const beside = { ActionCard, alertCard, bubble, complete, older, proactive, style: BESIDE, Topics };
