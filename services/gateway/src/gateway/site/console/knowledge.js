/* What the assistant knows: sources and the last run, a search box, files, and questions that had no answer. */
import { block, blocks } from "./markdown.js";
import { call, get, post } from "./api.js";
import { make, button } from "./dom.js";
import { Gaps } from "./gaps.js";
import { Refresh } from "./refresh.js";
import { exactly, number, percent, say } from "./i18n.js";

const AGAIN = 1_500, UPLOAD = 120_000, LEFT = 20;
const ACCEPT = ".pdf,.docx,.md,.markdown,.html,.htm,.csv,.txt";
const UNDER_WAY = new Set(["queued", "running"]), FAILED = "failed";

export const knowledgeView = {
  path: "knowledge",
  title: "knowledge",
  glyph: "knowledge",
  open: (stage, context) => new KnowledgeView(stage, context),
};

class KnowledgeView {
  #admin; #cards; #run; #status; #documents; #results; #gaps; #timer = 0; #ended = false; #next = null; #items = [];
  #reading = new Refresh(() => this.#load(), (text) => { this.#status.textContent = text; });

  constructor(stage, { session }) {
    this.#admin = session.isAdmin;
    this.#cards = make("div", { class: "cards" });
    this.#run = make("div", { class: "run" });
    this.#status = make("p", { class: "told", role: "status" });
    this.#documents = make("ul", { class: "failures documents" });
    this.#gaps = new Gaps(this.#admin);
    const readButton = this.#admin && button(say("readSite"), () => this.#refresh(readButton), { class: "small primary" });
    stage.append(make("div", { class: "page" },
      make("div", { class: "row spread" }, make("h1", {}, say("knowledge")), readButton),
      make("p", { class: "hint" }, say("knowledgeHint")), this.#status,
      make("section", { "aria-label": say("sources") }, this.#cards, this.#run),
      this.#searching(), this.#gaps.node,
      make("section", { "aria-label": say("documents") }, make("h2", {}, say("documents")), this.#admin && this.#uploading(), this.#documents)));
    this.#reading.now();
  }
  end() { this.#ended = true; this.#reading.end(); clearTimeout(this.#timer); }

  async #load() {
    const [overview, documents] = await Promise.all([get("/v2/knowledge"), get("/v2/knowledge/documents?limit=50"), this.#gaps.load()]);
    if (this.#ended) return;
    this.#items = documents.items;
    this.#next = documents.next;
    this.#show(overview);
    this.#list();
    const busy = UNDER_WAY.has(overview.lastRun?.state) || this.#items.some((document) => document.state === "reading");
    clearTimeout(this.#timer);
    if (busy) this.#timer = setTimeout(() => this.#reading.now(), AGAIN);
  }
  #show({ sources, siteUrl, lastRun, nextRunAt, gaps }) {
    const card = (name, value, note = "") => make("div", { class: "card" }, make("p", {}, name), make("b", {}, value), make("small", {}, note));
    this.#cards.replaceChildren(
      ...sources.map((source) => card(say(`source_${source.source}`), number.format(source.documents),
        say("passagesOf", { passages: number.format(source.passages), failed: number.format(source.failed) }))),
      card(say("gaps"), number.format(gaps)));
    const run = lastRun && make("p", {}, make("b", {}, say(`run_${lastRun.state}`)), " ",
      say("runCounts", Object.fromEntries(Object.entries(lastRun.counts).map(([name, count]) => [name, number.format(count)]))));
    const leftOut = lastRun?.left?.length > 0 && make("details", {}, make("summary", {}, say("leftOut", { count: number.format(lastRun.left.length) })),
      make("ul", {}, ...lastRun.left.slice(-LEFT).map((page) => make("li", {}, make("small", {}, `${page.url}: ${page.message || page.reason}`)))));
    const decide = (remove) => this.#doing(async () => post(`/v2/knowledge/runs/${encodeURIComponent(lastRun.id)}`, { remove }));
    const waits = lastRun?.state === "waiting" && make("div", { class: "row" },
      make("span", {}, say("wouldRemove", { count: number.format(lastRun.gone) })),
      this.#admin && button(say("removeThem"), () => decide(true), { class: "small danger" }),
      this.#admin && button(say("keepThem"), () => decide(false), { class: "small" }));
    this.#run.replaceChildren(
      make("p", { class: "hint" }, siteUrl || say("noSite"), nextRunAt ? ` · ${say("nextRun", { at: exactly(nextRunAt) })}` : ""),
      ...[run, lastRun?.problem && make("p", { class: "fault" }, lastRun.problem), waits, leftOut].filter(Boolean));
  }
  #list() {
    const rows = this.#items.map((document) => {
      const state = document.problem || document.state === FAILED ? make("p", { class: "fault" }, document.problem || say("failed"))
        : make("small", {}, say(`document_${document.state}`, { passages: number.format(document.passages) }));
      const out = this.#admin && button(say("remove"), () => this.#doing(
        () => call("DELETE", `/v2/knowledge/documents/${encodeURIComponent(document.id)}`)), { class: "small", "aria-label": `${say("remove")}: ${document.title}` });
      return make("li", { "data-document": document.id, "data-state": document.state },
        make("div", { class: "row spread" }, make("b", {}, document.title), make("time", { datetime: document.updatedAt }, exactly(document.updatedAt))),
        make("p", { class: "row" }, make("small", {}, say(`source_${document.source}`), document.url ? ` · ${document.url}` : ""), state, out));
    });
    const moreRow = this.#next && make("li", { class: "empty" }, button(say("more"), () => this.#more(), { class: "quiet wide" }));
    this.#documents.replaceChildren(...(rows.length ? rows : [make("li", { class: "empty" }, say("noDocuments"))]), ...(moreRow ? [moreRow] : []));
  }
  async #more() {
    try {
      const { items, next } = await get(`/v2/knowledge/documents?${new URLSearchParams({ limit: 50, cursor: this.#next })}`);
      this.#items.push(...items);
      this.#next = next;
      this.#list();
    } catch (error) { this.#status.textContent = error.message; }
  }
  /* Runs an action and loads the page again. */
  async #doing(work) {
    try {
      await work();
      this.#status.textContent = "";
    } catch (error) {
      this.#status.textContent = error.message;
      return;
    }
    await this.#reading.now();
  }
  async #refresh(pressed) {
    pressed.disabled = true;
    await this.#doing(() => post("/v2/knowledge/refresh", {}));
    pressed.disabled = false;
  }

  #searching() {
    const query = make("input", { type: "search", id: "knowledge-query", maxlength: "500", placeholder: say("searchHint"), required: true });
    this.#results = make("ol", { class: "failures", "aria-live": "polite" });
    const form = make("form", { class: "row asking", onsubmit: (event) => { event.preventDefault(); this.#search(query.value); } },
      make("label", { for: "knowledge-query" }, say("tryQuestion")), query, make("button", { type: "submit" }, say("search")));
    return make("section", { "aria-label": say("tryQuestion") }, form, this.#results);
  }
  async #search(query) {
    if (!query.trim()) return;
    this.#results.replaceChildren(make("li", { class: "empty" }, say("loading")));
    try {
      const { results } = await post("/v2/knowledge/search", { query });
      this.#results.replaceChildren(...(results.length ? results.map((result) => this.#result(result)) : [make("li", { class: "empty" }, say("nothingFound"))]));
    } catch (error) {
      this.#results.replaceChildren(make("li", {}, make("p", { class: "fault" }, error.message)));
    }
  }
  #result(match) {
    const title = [match.title, ...match.heading].join(" › ");
    const open = /^https?:/.test(match.url || "");
    return make("li", {},
      make("div", { class: "row spread" },
        open ? make("a", { href: match.url, target: "_blank", rel: "noreferrer" }, title) : make("b", {}, title),
        make("span", { class: "outcome" }, match.exact ? say("wordByWord") : percent.format(match.score))),
      make("div", { class: "detail text", dir: "auto" }, ...blocks(match.text).map((source) => block(source))),
      make("small", {}, say("readAt", { at: exactly(match.readAt) })));
  }

  #uploading() {
    const file = make("input", { type: "file", id: "knowledge-file", accept: ACCEPT, required: true });
    const send = make("button", { type: "submit" }, say("upload"));
    return make("form", { class: "row asking", onsubmit: (event) => { event.preventDefault(); this.#upload(file, send); } },
      make("label", { for: "knowledge-file" }, say("uploadHint")), file, send);
  }
  async #upload(input, send) {
    const [file] = input.files;
    if (!file) return;
    const body = new FormData();
    body.append("file", file);
    send.disabled = true;
    await this.#doing(async () => { await call("POST", "/v2/knowledge/documents", { body, deadline: UPLOAD }); input.value = ""; });
    send.disabled = false;
  }
}
