/* Replays a recorded answer side by side: as recorded, or with another model or prompt. For admins. */
import { get, post } from "./api.js";
import { make, button } from "./dom.js";
import { block, blocks } from "./markdown.js";
import { money, number, say } from "./i18n.js";

const ANSWER_MS = 70_000; // for an answer: the server gives it 60 s

/* A list of tool calls: {tool, arguments, success, code, note}. */
export const callList = (calls) => (calls.length ? make("ol", { class: "calls" }, ...calls.map((item) => make("li", {},
  make("p", {}, make("b", {}, item.tool), " ", make("span", { class: item.success ? "good" : "bad" }, item.success ? say("worked") : item.code || say("failed")),
    item.note && make("small", {}, ` ${item.note}`)),
  make("pre", { tabindex: "0" }, JSON.stringify(item.arguments, null, 2))))) : make("p", {}, say("noTools")));

export class Sides {
  node;
  #address; #recordedAnswer;

  /* was: {text, calls} as recorded. */
  constructor(address, was) {
    this.#address = address;
    this.#recordedAnswer = was;
    this.node = make("section", { class: "sides", "aria-labelledby": "sides-title" },
      make("h3", { id: "sides-title" }, say("sides")), make("p", { class: "hint" }, say("sidesHint")),
      make("div", { class: "pair" }, this.#side("A"), this.#side("B")), this.#case());
    this.#models();
  }

  async #models() {
    try {
      const { providers } = await get("/v2/llm/config/providers");
      const named = providers.filter((provider) => provider.configured).flatMap((provider) => provider.models.map((model) =>
        [provider.id === "offline" ? provider.id : `${provider.id}:${model.id}`, `${provider.label ?? provider.id}: ${model.id}`]));
      for (const select of this.node.querySelectorAll("select")) select.append(...named.map(([value, label]) => make("option", { value }, label)));
    } catch { /* A replay as recorded is possible all the same. */ }
  }

  #side(name) {
    const model = make("select", { id: `side-model-${name}` }, make("option", { value: "" }, say("sideAsRecorded")));
    const prompt = make("textarea", { id: `side-prompt-${name}`, rows: "3", maxlength: "8000", placeholder: say("sideAsRecorded") });
    const run = make("button", { type: "submit" }, say("sideRun"));
    const result = make("div", { class: "result", role: "status" }, ...this.#recorded());
    const answer = async (event) => {
      event.preventDefault();
      run.disabled = true;
      result.replaceChildren(make("p", { class: "hint" }, say("loading")));
      try {
        const body = { ...(model.value && { model: model.value }), ...(prompt.value.trim() && { prompt: prompt.value.trim() }) };
        result.replaceChildren(...replayedSections(await post(`${this.#address}/replay`, body, { deadline: ANSWER_MS })));
      } catch (error) { result.replaceChildren(make("p", { class: "fault" }, error.message)); }
      run.disabled = false;
    };
    return make("section", { class: "side", "aria-labelledby": `side-${name}` },
      make("h4", { id: `side-${name}` }, say("sideName", { name })),
      make("form", { onsubmit: answer },
        make("label", { for: model.id }, say("model")), model,
        make("label", { for: prompt.id }, say("sidePrompt")), prompt, run),
      result);
  }
  #recorded() {
    return [make("p", { class: "hint" }, say("sideWas")), textBlock(this.#recordedAnswer.text), callList(this.#recordedAnswer.calls)];
  }

  #case() {
    const result = make("div", { class: "result", role: "status" });
    const showCase = async () => {
      try {
        const { name, toml } = await get(`${this.#address}/case`);
        const link = make("a", { download: `${name}.toml`, href: URL.createObjectURL(new Blob([toml], { type: "application/toml" })) }, say("saveFile", { name: `${name}.toml` }));
        result.replaceChildren(make("pre", { tabindex: "0" }, toml), make("p", {}, link), make("p", { class: "hint" }, say("caseHint")));
      } catch (error) { result.replaceChildren(make("p", { class: "fault" }, error.message)); }
    };
    return make("div", {}, button(say("makeCase"), showCase, { class: "small" }), result);
  }
}

const textBlock = (text) => make("div", { class: "text", dir: "auto" }, ...blocks(text).map((part) => block(part)));

function replayedSections(turn) {
  const { replayed } = turn;
  const calls = replayed.tools.map((item) => ({ ...item, code: item.inRecord ? item.error : say("notInRecord") }));
  const figures = [
    replayed.model,
    say("tokensOf", { prompt: number.format(replayed.promptTokens), completion: number.format(replayed.completionTokens) }),
    replayed.cost != null && money(replayed.cost),
    `${number.format(Math.round(replayed.latencyMs))} ms`,
  ];
  return [
    make("p", { class: replayed.error ? "bad" : "hint" }, replayed.error || say(turn.sameText ? "sameAnswer" : "otherAnswer")),
    textBlock(replayed.text), callList(calls),
    make("p", { class: "hint" }, figures.filter(Boolean).join(" · ")),
    ...(turn.notes || []).map((note) => make("p", { class: "hint" }, note)),
  ];
}
