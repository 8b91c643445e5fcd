/* A recorded answer again, side by side: each side as it was answered, or with another model or prompt. For admins. */
import { get, post } from "./api.js";
import { make, button } from "./dom.js";
import { block, blocks } from "./markdown.js";
import { money, number, say } from "./i18n.js";

const ASKED = 70_000; // ms for an answer: the server gives it 60 s

/* Tool calls in order: {tool, arguments, success, code, note}. */
export const callList = (calls) => (calls.length ? make("ol", { class: "calls" }, ...calls.map((one) => make("li", {},
  make("p", {}, make("b", {}, one.tool), " ", make("span", { class: one.success ? "good" : "bad" }, one.success ? say("worked") : one.code || say("failed")),
    one.note && make("small", {}, ` ${one.note}`)),
  make("pre", { tabindex: "0" }, JSON.stringify(one.arguments, null, 2))))) : make("p", {}, say("noTools")));

export class Sides {
  node;
  #address; #was;

  /* was: {text, calls} as it was answered. */
  constructor(address, was) {
    this.#address = address;
    this.#was = was;
    this.node = make("section", { class: "sides", "aria-labelledby": "sides-title" },
      make("h3", { id: "sides-title" }, say("sides")), make("p", { class: "hint" }, say("sidesHint")),
      make("div", { class: "pair" }, this.#side("A"), this.#side("B")), this.#case());
    this.#models();
  }

  async #models() {
    try {
      const { providers } = await get("/v2/llm/config/providers");
      const named = providers.filter((one) => one.configured).flatMap((one) => one.models.map((model) =>
        [one.id === "offline" ? one.id : `${one.id}:${model.id}`, `${one.label ?? one.id}: ${model.id}`]));
      for (const select of this.node.querySelectorAll("select")) select.append(...named.map(([value, label]) => make("option", { value }, label)));
    } catch { /* As recorded can be asked for all the same. */ }
  }

  #side(name) {
    const model = make("select", { id: `side-model-${name}` }, make("option", { value: "" }, say("sideAsRecorded")));
    const prompt = make("textarea", { id: `side-prompt-${name}`, rows: "3", maxlength: "8000", placeholder: say("sideAsRecorded") });
    const run = make("button", { type: "submit" }, say("sideRun"));
    const told = make("div", { class: "result", role: "status" }, ...this.#recorded());
    const answer = async (event) => {
      event.preventDefault();
      run.disabled = true;
      told.replaceChildren(make("p", { class: "hint" }, say("loading")));
      try {
        const body = { ...(model.value && { model: model.value }), ...(prompt.value.trim() && { prompt: prompt.value.trim() }) };
        told.replaceChildren(...shown(await post(`${this.#address}/replay`, body, { deadline: ASKED })));
      } catch (error) { told.replaceChildren(make("p", { class: "fault" }, error.message)); }
      run.disabled = false;
    };
    return make("section", { class: "side", "aria-labelledby": `side-${name}` },
      make("h4", { id: `side-${name}` }, say("sideName", { name })),
      make("form", { onsubmit: answer },
        make("label", { for: model.id }, say("model")), model,
        make("label", { for: prompt.id }, say("sidePrompt")), prompt, run),
      told);
  }
  #recorded() {
    return [make("p", { class: "hint" }, say("sideWas")), said(this.#was.text), callList(this.#was.calls)];
  }

  #case() {
    const told = make("div", { class: "result", role: "status" });
    const made = async () => {
      try {
        const { name, toml } = await get(`${this.#address}/case`);
        const link = make("a", { download: `${name}.toml`, href: URL.createObjectURL(new Blob([toml], { type: "application/toml" })) }, say("saveFile", { name: `${name}.toml` }));
        told.replaceChildren(make("pre", { tabindex: "0" }, toml), make("p", {}, link), make("p", { class: "hint" }, say("caseHint")));
      } catch (error) { told.replaceChildren(make("p", { class: "fault" }, error.message)); }
    };
    return make("div", {}, button(say("makeCase"), made, { class: "small" }), told);
  }
}

const said = (text) => make("div", { class: "text", dir: "auto" }, ...blocks(text).map((one) => block(one)));

function shown(turn) {
  const { replayed } = turn;
  const calls = replayed.tools.map((one) => ({ ...one, code: one.inRecord ? one.error : say("notInRecord") }));
  const figures = [
    replayed.model,
    say("tokensOf", { prompt: number.format(replayed.promptTokens), completion: number.format(replayed.completionTokens) }),
    replayed.cost != null && money(replayed.cost),
    `${number.format(Math.round(replayed.latencyMs))} ms`,
  ];
  return [
    make("p", { class: replayed.error ? "bad" : "hint" }, replayed.error || say(turn.sameText ? "sameAnswer" : "otherAnswer")),
    said(replayed.text), callList(calls),
    make("p", { class: "hint" }, figures.filter(Boolean).join(" · ")),
    ...(turn.notes || []).map((note) => make("p", { class: "hint" }, note)),
  ];
}
