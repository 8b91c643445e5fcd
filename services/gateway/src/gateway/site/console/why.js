/* Why an answer is as it is: what its turn asked, read and cost. */
import { get } from "./api.js";
import { make, button } from "./dom.js";
import { link } from "./markdown.js";
import { showDialog } from "./question.js";
import { session } from "./session.js";
import { Sides, callList } from "./sides.js";
import { cost, exactly, number, percent, say, span } from "./i18n.js";

export async function showWhy(conversation, message) {
  const body = make("div", { class: "why" }, make("p", {}, say("loading")));
  const dialog = showDialog(say("why"), [body], { head: (heading) => make("header", {}, heading, button(say("close"), () => dialog.close(), { class: "small" })) });
  try {
    const address = `/v2/conversations/${encodeURIComponent(conversation)}/turns/${encodeURIComponent(message.turnId)}`;
    const turn = await get(address);
    const calls = callsOf(turn);
    body.replaceChildren(...described(turn, calls));
    if (!session.isAdmin) return;
    const sidesButton = button(say("sides"), () => { dialog.classList.add("wide"); sidesButton.replaceWith(new Sides(address, { text: message.text, calls }).node); }, { class: "small" });
    body.append(sidesButton);
  } catch (error) {
    body.replaceChildren(make("p", { class: "fault" }, error.message));
  }
}

const callsOf = (turn) => (turn.calls || []).map((call) => ({ ...call, note: `${number.format(Math.round(call.ms))} ms${call.cached ? `, ${say("fromCache")}` : ""}` }));

function described(turn, calls) {
  const rows = [
    ["model", [turn.model, turn.provider && `(${turn.provider})`].filter(Boolean).join(" ")],
    ["configVersion", turn.configVersion && number.format(turn.configVersion)],
    ["tokens", turn.usage && say("tokensOf", { prompt: number.format(turn.usage.promptTokens), completion: number.format(turn.usage.completionTokens) })],
    ["cost", turn.usage && cost(turn.cost, turn.currency, turn.usage.promptTokens + turn.usage.completionTokens)],
    ["latency", turn.latencyMs != null && (turn.latencyMs < 10_000 ? `${number.format(turn.latencyMs)} ms` : span(turn.latencyMs))],
    ["discarded", turn.discarded > 0 && say("discardedTimes", { count: turn.discarded })],
  ].filter(([, value]) => value);
  const named = ({ url, title, heading }) => {
    const name = [title || url, ...(heading || [])].join(" › ");
    return link(url || "", [name], name);
  };
  const pages = (turn.citations || []).map((page) => make("li", {}, named(page)));
  const passages = (turn.passages || []).map((passage) => make("li", {}, named(passage), " ",
    make("small", {}, say("why_passage", { share: percent.format(passage.score), when: exactly(passage.readAt) })),
    make("pre", { tabindex: "0" }, passage.text)));
  return [
    make("dl", {}, ...rows.flatMap(([name, value]) => [make("dt", {}, say(`why_${name}`)), make("dd", {}, value)])),
    make("h3", {}, say("why_tools")), callList(calls),
    ...(passages.length ? [make("h3", {}, say("why_passages")), make("ol", {}, ...passages)] : []),
    ...(pages.length ? [make("h3", {}, say("why_pages")), make("ul", {}, ...pages)] : []),
  ];
}
