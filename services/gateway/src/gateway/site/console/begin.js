/* A company's first hour in three steps: its site, its assistant, the chat on its page. A finished step is marked, and
   can be repeated. */
import { call, get, Problem } from "./api.js";
import { make } from "./dom.js";
import { glyph } from "./glyphs.js";
import { copying } from "./copying.js";
import { Refresh } from "./refresh.js";
import { LANGUAGES, language, ownName, say } from "./i18n.js";

const RETRY_MS = 3_000, MAX_SECTIONS = 12;

export const beginView = {
  path: "begin",
  title: "begin",
  glyph: "spark",
  admin: true,
  open: (stage, context) => new BeginView(stage, context),
};

class BeginView {
  #company; #detail = null; #status; #steps; #timer = 0; #ended = false; #preview; #sections; #seenLine; #reading = new Refresh(() => this.#load(), (text) => { this.#status.textContent = text; });

  constructor(stage, { session }) {
    this.#company = session.who.company;
    this.#status = make("p", { class: "told", role: "status" });
    this.#steps = make("ol", { class: "begin" });
    stage.append(make("div", { class: "page" }, make("h1", {}, say("begin")), make("p", { class: "hint" }, say("beginHint")), this.#status, this.#steps));
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
  /* A form that runs `work` and shows the text it returns. Its button is disabled meanwhile, and a fault is shown. */
  #form(work, label, ...children) {
    const fault = make("p", { class: "fault", role: "alert" }), status = make("p", { class: "hint", role: "status" });
    const submit = make("button", { type: "submit", class: "primary" }, say(label));
    return make("form", { class: "settings", onsubmit: async (event) => {
      event.preventDefault();
      submit.disabled = true;
      fault.textContent = status.textContent = "";
      try { status.textContent = await work() || ""; } catch (error) {
        if (!(error instanceof Problem)) throw error;
        fault.textContent = [error.message, ...error.fields.map(({ message }) => message)].join(" ");
      }
      submit.disabled = false;
    } }, ...children, fault, make("div", { class: "row end" }, status, submit));
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
        const lines = this.#detail ? await this.#updateSite(name[1].value, site[1].value) : await this.#create(name[1].value, site[1].value);
        await this.#read();
        if (this.#steps.children.length === 1) this.#draw();
        this.#steps.querySelector(".result").replaceChildren(...lines);
        await this.#showSections();
      } catch (error) { result.replaceChildren(); throw error; }
    }, "begin_read", ...name, ...site, result, this.#sections);
    if (this.#detail) this.#showSections();
    result.append(...this.#missingPages.map(({ message }) => make("p", { class: "hint" }, message)));
    return this.#step("site", this.#siteRead, form);
  }
  get #missingPages() { return (this.#detail?.missing || []).filter(({ step }) => step === "pages"); }
  get #siteRead() { return Boolean(this.#detail?.settings.knowledge?.siteUrl) && !this.#missingPages.length; }
  async #create(name, site) {
    const body = { companyId: this.#company, name, site, languages: [...new Set([language, ...LANGUAGES])] };
    const { body: company } = await call("POST", "/v2/companies", { body, deadline: 120_000 });
    const firstAnswer = company.tried ? [make("p", {}, make("b", {}, company.tried.question)), make("p", {}, company.tried.answer)] : [];
    return [make("p", { class: company.pages ? "good" : "bad" }, say("begin_pages", { count: company.pages })), ...firstAnswer,
      ...company.missing.filter(({ step }) => step !== "widget").map(({ message }) => make("p", { class: "hint" }, message))];
  }
  async #updateSite(name, site) {
    const url = site.includes("://") ? site : `${/^(localhost|127\.0\.0\.1|\[::1\])(?=[:/]|$)/.test(site) ? "http" : "https"}://${site}`;
    let origin;
    try { origin = new URL(url).origin; } catch { throw new Problem(422, { detail: say("begin_noAddress") }); }
    // The list is sent whole: what another admin has added since this page was opened stays in it.
    const { body: { settings }, headers } = await call("GET", this.#address);
    const others = settings.toolConfig.allowedDomains.filter((domain) => domain !== origin);
    await this.#change({ name, knowledge: { siteUrl: url }, toolConfig: { fetchPageEnabled: true, allowedDomains: [origin, ...others] } }, headers.get("etag"));
    await call("POST", "/v2/knowledge/refresh", { body: {} });
    return [make("p", { class: "good" }, say("begin_readingSite"))];
  }
  async #change(patch, version = "*") {
    const answer = await call("PATCH", this.#address, { body: patch, headers: { "If-Match": version } });
    this.#detail = answer.body;
  }
  /* Shows the sections of the site that have pages, more of them while it is being read. All are read unless the admin
     unticks some. */
  async #showSections() {
    let items = [];
    try { ({ items } = await get("/v2/knowledge/documents?source=site&limit=200")); } catch { return; }
    const parts = [...new Set(items.map(({ url }) => `/${new URL(url).pathname.split("/")[1] || ""}`).filter((part) => part !== "/"))].sort().slice(0, MAX_SECTIONS);
    const denied = new Set(this.#detail?.settings.knowledge.deniedPaths || []);
    const proposed = JSON.stringify([parts, [...denied]]);
    if ((!parts.length && !denied.size) || this.#sections.dataset.proposed === proposed) return;
    this.#sections.dataset.proposed = proposed;
    const boxes = [...new Set([...parts, ...denied])].map((part) => {
      const box = make("input", { type: "checkbox", value: part, ...(!denied.has(part) && { checked: true }), onchange: () => this.#saveSections(boxes) });
      return make("label", { class: "row" }, box, make("code", {}, part));
    });
    this.#sections.replaceChildren(make("p", { class: "hint" }, say("begin_sections")), ...boxes);
  }
  async #saveSections(boxes) {
    const unchecked = boxes.map((box) => box.querySelector("input")).filter((box) => !box.checked).map((box) => box.value);
    try { await this.#change({ knowledge: { deniedPaths: unchecked } }); this.#status.textContent = say("saved"); } catch (error) { this.#status.textContent = error.message; }
  }

  /* ---- two: the assistant, with a preview beside it */
  #assistant() {
    const { assistant = {}, brandColor, languages = [] } = this.#detail.settings;
    const locales = [...new Set([...LANGUAGES, ...languages])], current = (languages.length ? languages : locales).join();
    const select = make("select", { id: "begin-languages" },
      ...[...new Set([...LANGUAGES, ...LANGUAGES.flatMap((first) => LANGUAGES.filter((option) => option !== first).map((box) => `${first},${box}`)), current])].map((box) => make("option", { value: box, selected: box === current }, box.split(",").map(ownName).join(", "))));
    const name = this.#field("assistantName", assistant.name, { maxlength: "60" });
    const tone = this.#field("tone", assistant.tone, { maxlength: "300" });
    const greetings = locales.map((locale) => [locale, make("input", { type: "text", maxlength: "300", lang: locale, "aria-label": `${say("begin_greeting_label")} (${locale})`, value: assistant.greeting?.[locale] || "" })]);
    const color = make("input", { type: "color", id: "begin-color", value: brandColor || "#0b6b5d" });
    this.#preview = make("div", { class: "preview", "aria-label": say("begin_preview") });
    const rows = greetings.map(([locale, input]) => make("div", { class: "row" }, make("code", {}, locale), input));
    const show = () => {
      const chosen = select.value.split(",");
      for (const [index, locale] of locales.entries()) rows[index].hidden = !chosen.includes(locale);
      this.#preview.style.setProperty("--brand", color.value);
      this.#preview.replaceChildren(make("b", {}, name[1].value || this.#detail.name || this.#company),
        make("p", {}, chosen.map((locale) => greetings[locales.indexOf(locale)][1].value).find(Boolean) || say("begin_greeting_usual")));
    };
    const form = this.#form(async () => {
      const greeting = Object.fromEntries(greetings.map(([locale, input]) => [locale, input.value.trim() || null]));
      await this.#change({ assistant: { name: name[1].value.trim() || null, tone: tone[1].value.trim() || null, greeting }, languages: select.value.split(","), brandColor: color.value, aiAutoResponseEnabled: true });
      form.closest("li").dataset.done = "true";
      return say("saved");
    }, "save", ...name, ...tone, make("label", { for: "begin-languages" }, say("begin_languages_label")), select,
    make("p", { class: "name" }, say("begin_greeting_label")), ...rows,
    make("label", { for: "begin-color" }, say("begin_color_label")), color);
    form.addEventListener("input", show);
    show();
    return this.#step("assistant", Boolean(assistant.name || Object.keys(assistant.greeting || {}).length), make("div", { class: "beginTwo" }, form, this.#preview));
  }

  /* ---- three: the code for the page */
  #page() {
    const { snippet } = this.#detail;
    this.#seenLine = make("p", { class: "seen", role: "status" });
    const step = this.#step("page", false, make("pre", { tabindex: "0" }, make("code", {}, snippet)),
      make("p", { class: "row" }, copying(snippet)), this.#seenLine);
    this.#showSeen(step);
    return step;
  }
  #showSeen(step = this.#seenLine.closest("li")) {
    const [newest] = this.#detail.seen || [];
    step.dataset.done = String(Boolean(newest));
    this.#seenLine.className = newest ? "seen good" : "seen";
    this.#seenLine.replaceChildren(glyph(newest ? "spark" : "clock"), newest ? say("begin_seen", { origin: newest.origin }) : say("begin_unseen"));
  }
  #watch() {
    this.#timer = setTimeout(async () => {
      try {
        await this.#read();
        if (!this.#ended) {
          this.#showSeen();
          this.#steps.firstChild.dataset.done = String(this.#siteRead);
          if (!this.#sections.contains(document.activeElement)) await this.#showSections();
        }
      } catch { /* the next attempt reads it */ }
      if (!this.#ended) this.#watch();
    }, RETRY_MS);
  }
}
