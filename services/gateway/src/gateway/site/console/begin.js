/* A company's first hour in three steps: its site, its assistant, the chat on its page. What is done shows, and can be done again. */
import { call, get, Problem } from "./api.js";
import { make } from "./dom.js";
import { glyph } from "./glyphs.js";
import { copying } from "./copying.js";
import { Refresh } from "./refresh.js";
import { LANGUAGES, language, ownName, say } from "./i18n.js";

const AGAIN = 3_000, MOST_SECTIONS = 12;

export const beginView = {
  path: "begin",
  title: "begin",
  glyph: "spark",
  admin: true,
  open: (stage, context) => new BeginView(stage, context),
};

class BeginView {
  #company; #detail = null; #told; #steps; #timer = 0; #ended = false; #preview; #sections; #seen; #reading = new Refresh(() => this.#load(), (text) => { this.#told.textContent = text; });

  constructor(stage, { session }) {
    this.#company = session.who.company;
    this.#told = make("p", { class: "told", role: "status" });
    this.#steps = make("ol", { class: "begin" });
    stage.append(make("div", { class: "page" }, make("h1", {}, say("begin")), make("p", { class: "hint" }, say("beginHint")), this.#told, this.#steps));
    this.#reading.now();
  }
  end() { this.#ended = true; this.#reading.end(); clearTimeout(this.#timer); }
  get #address() { return `/v2/companies/${this.#company}`; }

  async #load() {
    try { await this.#read(); } catch (error) {
      if (error.status !== 404) throw error;
    }
    if (!this.#ended) this.#draw();
  }
  async #read() {
    const answer = await call("GET", this.#address);
    this.#detail = answer.body;
  }
  #draw() {
    this.#steps.replaceChildren(this.#site(), ...(this.#detail ? [this.#assistant(), this.#page()] : []));
    clearTimeout(this.#timer);
    if (this.#detail) this.#watch();
  }
  #step(name, done, ...children) {
    return make("li", { class: "step", "data-done": String(done) }, make("h2", {}, say(`begin_${name}`)), make("p", { class: "hint" }, say(`begin_${name}_hint`)), ...children);
  }
  #field(name, value, attributes = {}) {
    const input = make("input", { type: "text", id: `begin-${name}`, value: value || "", ...attributes });
    return [make("label", { for: `begin-${name}` }, say(`begin_${name}_label`)), input];
  }
  /* Work of a form, which gives what to say when it is done: its button waits, what goes wrong is told. */
  #form(work, label, ...children) {
    const fault = make("p", { class: "fault", role: "alert" }), told = make("p", { class: "hint", role: "status" });
    const submit = make("button", { type: "submit", class: "primary" }, say(label));
    return make("form", { class: "settings", onsubmit: async (event) => {
      event.preventDefault();
      submit.disabled = true;
      fault.textContent = told.textContent = "";
      try { told.textContent = await work() || ""; } catch (error) {
        if (!(error instanceof Problem)) throw error;
        fault.textContent = [error.message, ...error.fields.map(({ message }) => message)].join(" ");
      }
      submit.disabled = false;
    } }, ...children, fault, make("div", { class: "row end" }, told, submit));
  }

  /* ---- one: the site */
  #site() {
    const settings = this.#detail?.settings;
    const name = this.#field("name", settings?.name, { required: true, maxlength: "80" });
    const site = this.#field("siteUrl", settings?.knowledge?.siteUrl, { required: true, maxlength: "2048", placeholder: "https://www.example.com" });
    const result = make("div", { class: "result", "aria-live": "polite" });
    this.#sections = make("div", { class: "result" });
    const form = this.#form(async () => {
      result.replaceChildren(make("p", { class: "hint" }, say("begin_reading")));
      try {
        const told = this.#detail ? await this.#moved(name[1].value, site[1].value) : await this.#made(name[1].value, site[1].value);
        await this.#read();
        if (this.#steps.children.length === 1) this.#draw();
        this.#steps.querySelector(".result").replaceChildren(...told);
        await this.#propose();
      } catch (error) { result.replaceChildren(); throw error; }
    }, "begin_read", ...name, ...site, result, this.#sections);
    if (this.#detail) this.#propose();
    result.append(...this.#unread.map(({ message }) => make("p", { class: "hint" }, message)));
    return this.#step("site", this.#siteRead, form);
  }
  get #unread() { return (this.#detail?.missing || []).filter(({ step }) => step === "pages"); }
  get #siteRead() { return Boolean(this.#detail?.settings.knowledge?.siteUrl) && !this.#unread.length; }
  async #made(name, site) {
    const body = { companyId: this.#company, name, site, languages: [...new Set([language, ...LANGUAGES])] };
    const { body: made } = await call("POST", "/v2/companies", { body, deadline: 120_000 });
    const tried = made.tried ? [make("p", {}, make("b", {}, made.tried.question)), make("p", {}, made.tried.answer)] : [];
    return [make("p", { class: made.pages ? "good" : "bad" }, say("begin_pages", { count: made.pages })), ...tried,
      ...made.missing.filter(({ step }) => step !== "widget").map(({ message }) => make("p", { class: "hint" }, message))];
  }
  async #moved(name, site) {
    const url = site.includes("://") ? site : `${/^(localhost|127\.0\.0\.1|\[::1\])(?=[:/]|$)/.test(site) ? "http" : "https"}://${site}`;
    let origin;
    try { origin = new URL(url).origin; } catch { throw new Problem(422, { detail: say("begin_noAddress") }); }
    const others = this.#detail.settings.toolConfig.allowedDomains.filter((one) => one !== origin);
    await this.#change({ name, knowledge: { siteUrl: url }, toolConfig: { fetchPageEnabled: true, allowedDomains: [origin, ...others] } });
    await call("POST", "/v2/knowledge/refresh", { body: {} });
    return [make("p", { class: "good" }, say("begin_readingSite"))];
  }
  async #change(patch) {
    const answer = await call("PATCH", this.#address, { body: patch, headers: { "If-Match": "*" } });
    this.#detail = answer.body;
  }
  /* The parts of the site that its pages lie in, more of them while it is read: all are read unless one leaves some out. */
  async #propose() {
    let items = [];
    try { ({ items } = await get("/v2/knowledge/documents?source=site&limit=200")); } catch { return; }
    const parts = [...new Set(items.map(({ url }) => `/${new URL(url).pathname.split("/")[1] || ""}`).filter((part) => part !== "/"))].sort().slice(0, MOST_SECTIONS);
    const denied = new Set(this.#detail?.settings.knowledge.deniedPaths || []);
    const proposed = JSON.stringify([parts, [...denied]]);
    if ((!parts.length && !denied.size) || this.#sections.dataset.proposed === proposed) return;
    this.#sections.dataset.proposed = proposed;
    const boxes = [...new Set([...parts, ...denied])].map((part) => {
      const box = make("input", { type: "checkbox", value: part, ...(!denied.has(part) && { checked: true }), onchange: () => this.#choose(boxes) });
      return make("label", { class: "row" }, box, make("code", {}, part));
    });
    this.#sections.replaceChildren(make("p", { class: "hint" }, say("begin_sections")), ...boxes);
  }
  async #choose(boxes) {
    const left = boxes.map((one) => one.querySelector("input")).filter((one) => !one.checked).map((one) => one.value);
    try { await this.#change({ knowledge: { deniedPaths: left } }); this.#told.textContent = say("saved"); } catch (error) { this.#told.textContent = error.message; }
  }

  /* ---- two: the assistant, with how it will look beside it */
  #assistant() {
    const { assistant = {}, brandColor, languages = [] } = this.#detail.settings;
    const tongues = [...new Set([...LANGUAGES, ...languages])], now = (languages.length ? languages : tongues).join();
    const spoken = make("select", { id: "begin-languages" },
      ...[...new Set([...LANGUAGES, ...LANGUAGES.flatMap((own) => LANGUAGES.filter((one) => one !== own).map((one) => `${own},${one}`)), now])].map((one) => make("option", { value: one, selected: one === now }, one.split(",").map(ownName).join(", "))));
    const name = this.#field("assistantName", assistant.name, { maxlength: "60" });
    const tone = this.#field("tone", assistant.tone, { maxlength: "300" });
    const greetings = tongues.map((tongue) => [tongue, make("input", { type: "text", maxlength: "300", lang: tongue, "aria-label": `${say("begin_greeting_label")} (${tongue})`, value: assistant.greeting?.[tongue] || "" })]);
    const color = make("input", { type: "color", id: "begin-color", value: brandColor || "#0b6b5d" });
    this.#preview = make("div", { class: "preview", "aria-label": say("begin_preview") });
    const rows = greetings.map(([tongue, input]) => make("div", { class: "row" }, make("code", {}, tongue), input));
    const show = () => {
      const chosen = spoken.value.split(",");
      for (const [at, tongue] of tongues.entries()) rows[at].hidden = !chosen.includes(tongue);
      this.#preview.style.setProperty("--brand", color.value);
      this.#preview.replaceChildren(make("b", {}, name[1].value || this.#detail.name || this.#company),
        make("p", {}, chosen.map((tongue) => greetings[tongues.indexOf(tongue)][1].value).find(Boolean) || say("begin_greeting_usual")));
    };
    const form = this.#form(async () => {
      const greeting = Object.fromEntries(greetings.map(([tongue, input]) => [tongue, input.value.trim() || null]));
      await this.#change({ assistant: { name: name[1].value.trim() || null, tone: tone[1].value.trim() || null, greeting }, languages: spoken.value.split(","), brandColor: color.value, aiAutoResponseEnabled: true });
      form.closest("li").dataset.done = "true";
      return say("saved");
    }, "save", ...name, ...tone, make("label", { for: "begin-languages" }, say("begin_languages_label")), spoken,
    make("p", { class: "name" }, say("begin_greeting_label")), ...rows,
    make("label", { for: "begin-color" }, say("begin_color_label")), color);
    form.addEventListener("input", show);
    show();
    return this.#step("assistant", Boolean(assistant.name || Object.keys(assistant.greeting || {}).length), make("div", { class: "beginTwo" }, form, this.#preview));
  }

  /* ---- three: on the page */
  #page() {
    const { snippet } = this.#detail;
    this.#seen = make("p", { class: "seen", role: "status" });
    const step = this.#step("page", false, make("pre", { tabindex: "0" }, make("code", {}, snippet)),
      make("p", { class: "row" }, copying(snippet)), this.#seen);
    this.#showSeen(step);
    return step;
  }
  #showSeen(step = this.#seen.closest("li")) {
    const [newest] = this.#detail.seen || [];
    step.dataset.done = String(Boolean(newest));
    this.#seen.className = newest ? "seen good" : "seen";
    this.#seen.replaceChildren(glyph(newest ? "spark" : "clock"), newest ? say("begin_seen", { origin: newest.origin }) : say("begin_unseen"));
  }
  #watch() {
    this.#timer = setTimeout(async () => {
      try {
        await this.#read();
        if (!this.#ended) {
          this.#showSeen();
          this.#steps.firstChild.dataset.done = String(this.#siteRead);
          if (!this.#sections.contains(document.activeElement)) await this.#propose();
        }
      } catch { /* the next look finds it */ }
      if (!this.#ended) this.#watch();
    }, AGAIN);
  }
}
