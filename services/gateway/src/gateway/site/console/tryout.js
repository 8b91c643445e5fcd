/* Trying settings before they are saved: the prompt, what fetch_page may read, rules, tools, the model, and an answer. */
import { post } from "./api.js";
import { make } from "./dom.js";
import { block, blocks } from "./markdown.js";
import { language, number, say } from "./i18n.js";

export class TryOut {
  node;
  #address; #patch;

  /* patch(): the unsaved changes. */
  constructor(address, patch) {
    this.#address = address;
    this.#patch = patch;
    this.node = make("aside", { class: "tries", "aria-label": say("tryOut") },
      make("h2", {}, say("tryOut")), make("p", { class: "hint" }, say("tryOutHint")),
      this.#textForm("question", "ask", "questionHint", (text) => this.#askQuestion(text)),
      this.#textForm("siteAddress", "check", "siteHint", (text) => this.#checkSite(text)),
      this.#textForm("personText", "seeWhere", "personHint", (text) => this.#checkPerson(text)),
      this.#textForm("toolCall", "callTool", "toolHint", (text) => this.#callTool(text)),
      this.#buttonForm("model", "checkModel", () => this.#checkModel()),
      this.#buttonForm("prompt", "show", () => this.#showPrompt()));
  }

  #textForm(label, action, hint, work) {
    const id = `try-${label}`;
    const input = make("input", { type: "text", id, required: true, maxlength: "2000", placeholder: say(hint) });
    const result = make("div", { class: "result", "aria-live": "polite" });
    return make("form", { onsubmit: (event) => { event.preventDefault(); this.#run(event.target, result, () => work(input.value.trim())); } },
      make("label", { for: id }, say(label)), make("div", { class: "row" }, input, make("button", { type: "submit" }, say(action))), result);
  }
  #buttonForm(label, action, work) {
    const result = make("div", { class: "result", "aria-live": "polite" });
    return make("form", { onsubmit: (event) => { event.preventDefault(); this.#run(event.target, result, work); } },
      make("div", { class: "row" }, make("b", {}, say(label)), make("button", { type: "submit" }, say(action))), result);
  }
  async #run(form, result, work) {
    const submit = form.querySelector("[type=submit]");
    submit.disabled = true;
    result.replaceChildren(make("p", { class: "hint" }, say("loading")));
    try { result.replaceChildren(...await work()); } catch (error) { result.replaceChildren(make("p", { class: "fault" }, error.message)); }
    submit.disabled = false;
  }

  async #askQuestion(question) {
    const body = { question, language, settings: this.#patch() };
    const reply = await post(`${this.#address}/sandbox`, body, { deadline: 120_000 });
    return [
      make("div", { class: "text" }, ...blocks(reply.text).map((part) => block(part))),
      make("p", { class: "hint" }, [reply.model, ...(reply.tools || []),
        reply.usage && say("tokensOf", { prompt: number.format(reply.usage.promptTokens), completion: number.format(reply.usage.completionTokens) })]
        .filter(Boolean).join(" · ")),
    ];
  }
  async #checkSite(address) {
    const reply = await post(`${this.#address}/site-check`, { address, language, settings: this.#patch() });
    return [make("p", { class: reply.allowed ? "good" : "bad" }, reply.allowed ? say("siteAllowed") : say("siteRefused", { reason: reply.reason || "" })),
      ...(reply.url ? [make("p", { class: "hint" }, reply.url)] : [])];
  }
  /* A message, or a plan, an address and a message: "pro https://…/pricing hello". */
  async #checkPerson(typed) {
    const words = typed.split(/\s+/), body = { language, settings: this.#patch() };
    if (["free", "pro", "premium"].includes(words[0]) && words.length > 1) body.plan = words.shift();
    if (/^https?:/.test(words[0])) body.page = words.shift();
    const reply = await post(`${this.#address}/person-check`, { ...body, text: words.join(" ") });
    const ruled = reply.to ? say(`goesTo_${reply.to}`, { rule: reply.rule + 1 }) : say("goesTo_ai");
    return [make("p", { class: reply.to === "never" ? "bad" : "good" }, ruled),
      make("p", { class: "hint" }, reply.open ? say("somebodyThere") : reply.told)];
  }
  /* "order_status order=A-17" really calls one of the company's own tools. */
  async #callTool(typed) {
    const [tool, ...pairTexts] = typed.split(/\s+/);
    const read = (text) => { try { return JSON.parse(text); } catch { return text; } };
    const pairs = pairTexts.map((pair) => { const [name, ...value] = pair.split("="); return [name, read(value.join("="))]; });
    const body = { tool, arguments: Object.fromEntries(pairs), language, settings: this.#patch() };
    const reply = await post(`${this.#company}/tool-check`, body, { deadline: 40_000 });
    return [make("p", { class: reply.success ? "good" : "bad" }, reply.success ? say("toolAnswered") : reply.error.message),
      ...(reply.success ? [make("pre", { tabindex: "0" }, JSON.stringify(reply.data.result, null, 1))] : [])];
  }
  async #checkModel() {
    const reply = await post(`${this.#company}/model-check`, { language, settings: this.#patch() }, { deadline: 40_000 });
    const values = { model: reply.model, provider: reply.provider, seconds: number.format(reply.ms / 1000) };
    return [make("p", { class: reply.error ? "bad" : "good" }, reply.error ? `${reply.model}: ${reply.error}` : say("modelAnswered", values))];
  }
  get #company() { return this.#address.replace("/llm/config/", "/companies/"); }
  async #showPrompt() {
    const reply = await post(`${this.#address}/prompt`, { language, settings: this.#patch() });
    return [make("ol", { class: "layers" }, ...reply.layers.map((layer) =>
      make("li", {}, make("b", {}, say(`layer_${layer.name}`)), make("pre", { tabindex: "0" }, layer.text)))),
    make("p", { class: "hint" }, say("promptTokens", { count: number.format(reply.tokens) }))];
  }
}
