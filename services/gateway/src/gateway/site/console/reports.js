/* Reports on a period, grouped as chosen; each figure opens the list of its conversations. */
import { get } from "./api.js";
import { save } from "./copying.js";
import { button, make } from "./dom.js";
import { nameOf } from "./inbox.js";
import { Refresh } from "./refresh.js";
import { cost, dayOf, exactly, moment, number, say, span } from "./i18n.js";

const SPANS = [7, 30, 90], OPENED = 20;
const BY = ["day", "channel", "language", "user", "door"];
const seconds = (value) => span(value * 1000);
const costOf = (value, currency, row) => cost(value, currency, row.promptTokens + row.completionTokens);
const COLUMNS = [
  ["conversations", number.format, "conversations"], ["answeredByAi", number.format, "answeredByAi"], ["resolvedByAi", number.format, "resolvedByAi"],
  ["handedOver", number.format, "handedOver"], ["firstAnswerSeconds", seconds, "firstAnswerSeconds"], ["toPersonSeconds", seconds, "toPersonSeconds"],
  ["csat", number.format, "rated"], ["costPerConversation", costOf, "cost"], ["costPerResolution", costOf, "cost"],
  ["promptTokens", number.format], ["completionTokens", number.format], ["tools", number.format, "tools"], ["gaps", number.format, "gaps"],
];

export const reportsView = {
  path: "reports",
  title: "reports",
  glyph: "reports",
  open: (stage) => new ReportsView(stage),
};

class ReportsView {
  #body; #spans; #days = 30; #by = "day"; #opened; #reading = new Refresh(() => this.#load(), (text) => text && this.#body.replaceChildren(make("p", { class: "fault", role: "alert" }, text)));

  constructor(stage) {
    this.#spans = SPANS.map((span) => button(say("lastDays", { days: span }), () => { this.#days = span; this.#show(); }, { class: "filter" }));
    const by = make("select", { "aria-label": say("reportBy"), onchange: () => { this.#by = by.value; this.#show(); } }, ...BY.map((name) => make("option", { value: name }, say(`reportBy_${name}`))));
    this.#body = make("div", { class: "figures-page", "aria-live": "polite" });
    this.#opened = make("section", { "aria-live": "polite" });
    stage.append(make("div", { class: "page broad" }, make("div", { class: "row spread" }, make("h1", {}, say("reports")),
      make("div", { class: "filters plain", role: "group", "aria-label": say("period") }, by, ...this.#spans, button(say("csv"), () => this.#download(), { class: "small" }))),
    this.#body, this.#opened));
    this.#show();
  }
  end() { this.#reading.end(); }
  get #query() {
    // Until the company's today, which may be another day than the browser's.
    return `from=${new Date(Date.now() - (this.#days - 1) * 86_400_000).toLocaleDateString("sv")}&by=${this.#by}`;
  }
  #show() {
    SPANS.forEach((span, index) => this.#spans[index].setAttribute("aria-pressed", String(span === this.#days)));
    this.#body.replaceChildren(make("p", { class: "empty" }, say("loading")));
    this.#opened.replaceChildren();
    this.#reading.now();
  }
  async #load() {
    const query = this.#query;
    const report = await get(`/v2/reports?${query}`);
    if (query !== this.#query) return; // another choice was made meanwhile
    this.#body.replaceChildren(this.#table(report, query), !report.complete ? make("p", { class: "hint" }, say("reportIncomplete")) : "");
  }
  #table({ rows, total, currency }, query) {
    const line = (name, row, key) => make("tr", {}, make("th", { scope: "row" }, name), ...COLUMNS.map(([field, format, figure]) => {
      const value = row[field] ?? null, words = value === null ? "–" : format(value, currency, row);
      return make("td", {}, value && figure ? button(words, () => this.#open(query, key, figure), { class: "quiet figure" }) : words);
    }));
    const named = (key) => (this.#by === "day" ? dayOf(key) : this.#by === "user" ? nameOf({ id: key }) : key);
    return make("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": say("reports") }, make("table", {},
      make("thead", {}, make("tr", {}, make("th", { scope: "col" }, say(`reportBy_${this.#by}`)), ...COLUMNS.map(([field]) => make("th", { scope: "col" }, say(`figure_${field}`))))),
      make("tbody", {}, ...rows.map((row) => line(named(row.key), row, row.key)), line(say("total"), total, null))));
  }
  async #open(query, key, figure) {
    const filter = key === null ? "" : `&key=${encodeURIComponent(key)}`;
    try {
      const { conversationIds } = await get(`/v2/reports/conversations?${query}${filter}&figure=${figure}`);
      const list = make("ul", { class: "complaints" }), moreButton = button(say("more"), () => next(), { class: "small" });
      const next = async () => {
        list.append(...await Promise.all(conversationIds.splice(0, OPENED).map(conversationRow)));
        moreButton.hidden = !conversationIds.length;
      };
      const heading = make("h2", {}, say("behindFigure", { count: number.format(conversationIds.length) }));
      await next();
      this.#opened.replaceChildren(heading, list, moreButton);
      this.#opened.scrollIntoView({ block: "nearest" });
    } catch (error) {
      this.#opened.replaceChildren(make("p", { class: "fault" }, error.message));
    }
  }
  #download() {
    save(`/v2/reports?${this.#query}`, "text/csv", `report-${this.#by}.csv`, (fault) => this.#opened.replaceChildren(make("p", { class: "fault" }, fault)));
  }
}

/* A row with who and what about; a deleted conversation is shown by its id. */
async function conversationRow(id) {
  const row = (...children) => make("li", {}, make("a", { href: `#/inbox/${encodeURIComponent(id)}`, dir: "auto" }, ...children));
  let conversation;
  try { conversation = await get(`/v2/conversations/${encodeURIComponent(id)}`); } catch { return row(id); }
  const time = conversation.lastMessage?.createdAt || conversation.startedAt;
  return row(make("b", {}, nameOf(conversation)), " ", conversation.topic || conversation.lastMessage?.text.slice(0, 80) || "", " ", make("time", { datetime: time, title: exactly(time) }, moment(time)));
}
