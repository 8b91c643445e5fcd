/* Settings tried before they are saved: the prompt that they make, what fetch_page may read, and an answer. */
import { post } from "./api.js";
import { make } from "./dom.js";
import { block, blocks } from "./markdown.js";
import { language, number, say } from "./i18n.js";

export class TryOut {
  node;
  #address; #patch;

  /* patch(): what has been changed and not saved. */
  constructor(address, patch) {
    this.#address = address;
    this.#patch = patch;
    this.node = make("aside", { class: "tries", "aria-label": say("tryOut") },
      make("h2", {}, say("tryOut")), make("p", { class: "hint" }, say("tryOutHint")),
      this.#one("question", "ask", "questionHint", (text) => this.#asked(text)),
      this.#one("siteAddress", "check", "siteHint", (text) => this.#checked(text)),
      this.#one("personText", "seeWhere", "personHint", (text) => this.#ruled(text)),
      this.#one("toolCall", "callTool", "toolHint", (text) => this.#called(text)),
      this.#button("model", "checkModel", () => this.#model()),
      this.#button("prompt", "show", () => this.#prompt()));
  }

  #one(label, action, hint, work) {
    const id = `try-${label}`;
    const input = make("input", { type: "text", id, required: true, maxlength: "2000", placeholder: say(hint) });
    const told = make("div", { class: "result", "aria-live": "polite" });
    return make("form", { onsubmit: (event) => { event.preventDefault(); this.#run(event.target, told, () => work(input.value.trim())); } },
      make("label", { for: id }, say(label)), make("div", { class: "row" }, input, make("button", { type: "submit" }, say(action))), told);
  }
  #button(label, action, work) {
    const told = make("div", { class: "result", "aria-live": "polite" });
    return make("form", { onsubmit: (event) => { event.preventDefault(); this.#run(event.target, told, work); } },
      make("div", { class: "row" }, make("b", {}, say(label)), make("button", { type: "submit" }, say(action))), told);
  }
  async #run(form, told, work) {
    const asked = form.querySelector("[type=submit]");
    asked.disabled = true;
    told.replaceChildren(make("p", { class: "hint" }, say("loading")));
    try { told.replaceChildren(...await work()); } catch (error) { told.replaceChildren(make("p", { class: "fault" }, error.message)); }
    asked.disabled = false;
  }

  async #asked(question) {
    const body = { question, language, settings: this.#patch() };
    const found = await post(`${this.#address}/sandbox`, body, { deadline: 120_000 });
    return [
      make("div", { class: "text" }, ...blocks(found.text).map((one) => block(one))),
      make("p", { class: "hint" }, [found.model, ...(found.tools || []),
        found.usage && say("tokensOf", { prompt: number.format(found.usage.promptTokens), completion: number.format(found.usage.completionTokens) })]
        .filter(Boolean).join(" · ")),
    ];
  }
  async #checked(address) {
    const found = await post(`${this.#address}/site-check`, { address, language, settings: this.#patch() });
    return [make("p", { class: found.allowed ? "good" : "bad" }, found.allowed ? say("siteAllowed") : say("siteRefused", { reason: found.reason || "" })),
      ...(found.url ? [make("p", { class: "hint" }, found.url)] : [])];
  }
  /* A message, or a plan, an address and a message: "pro https://…/pricing hello". */
  async #ruled(typed) {
    const words = typed.split(/\s+/), body = { language, settings: this.#patch() };
    if (["free", "pro", "premium"].includes(words[0]) && words.length > 1) body.plan = words.shift();
    if (/^https?:/.test(words[0])) body.page = words.shift();
    const found = await post(`${this.#address}/person-check`, { ...body, text: words.join(" ") });
    const ruled = found.to ? say(`goesTo_${found.to}`, { rule: found.rule + 1 }) : say("goesTo_ai");
    return [make("p", { class: found.to === "never" ? "bad" : "good" }, ruled),
      make("p", { class: "hint" }, found.open ? say("somebodyThere") : found.told)];
  }
  /* "order_status order=A-17": one of the company's own tools, really called. */
  async #called(typed) {
    const [tool, ...given] = typed.split(/\s+/);
    const read = (text) => { try { return JSON.parse(text); } catch { return text; } };
    const pairs = given.map((one) => { const [name, ...value] = one.split("="); return [name, read(value.join("="))]; });
    const body = { tool, arguments: Object.fromEntries(pairs), language, settings: this.#patch() };
    const found = await post(`${this.#company}/tool-check`, body, { deadline: 40_000 });
    return [make("p", { class: found.success ? "good" : "bad" }, found.success ? say("toolAnswered") : found.error.message),
      ...(found.success ? [make("pre", { tabindex: "0" }, JSON.stringify(found.data.result, null, 1))] : [])];
  }
  async #model() {
    const found = await post(`${this.#company}/model-check`, { language, settings: this.#patch() }, { deadline: 40_000 });
    const values = { model: found.model, provider: found.provider, seconds: number.format(found.ms / 1000) };
    return [make("p", { class: found.error ? "bad" : "good" }, found.error ? `${found.model}: ${found.error}` : say("modelAnswered", values))];
  }
  get #company() { return this.#address.replace("/llm/config/", "/companies/"); }
  async #prompt() {
    const found = await post(`${this.#address}/prompt`, { language, settings: this.#patch() });
    return [make("ol", { class: "layers" }, ...found.layers.map((layer) =>
      make("li", {}, make("b", {}, say(`layer_${layer.name}`)), make("pre", { tabindex: "0" }, layer.text)))),
    make("p", { class: "hint" }, say("promptTokens", { count: number.format(found.tokens) }))];
  }
}
