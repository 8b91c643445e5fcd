/* Whether it helped: a period's figures, by what one chooses; each opens down to its conversations. */
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
    this.#spans = SPANS.map((days) => button(say("lastDays", { days }), () => { this.#days = days; this.#show(); }, { class: "filter" }));
    const by = make("select", { "aria-label": say("reportBy"), onchange: () => { this.#by = by.value; this.#show(); } }, ...BY.map((one) => make("option", { value: one }, say(`reportBy_${one}`))));
    this.#body = make("div", { class: "figures-page", "aria-live": "polite" });
    this.#opened = make("section", { "aria-live": "polite" });
    stage.append(make("div", { class: "page broad" }, make("div", { class: "row spread" }, make("h1", {}, say("reports")),
      make("div", { class: "filters plain", role: "group", "aria-label": say("period") }, by, ...this.#spans, button(say("csv"), () => this.#download(), { class: "small" }))),
    this.#body, this.#opened));
    this.#show();
  }
  end() { this.#reading.end(); }
  get #query() {
    // Until today, which is the company's: it may be another day there than here.
    return `from=${new Date(Date.now() - (this.#days - 1) * 86_400_000).toLocaleDateString("sv")}&by=${this.#by}`;
  }
  #show() {
    SPANS.forEach((days, index) => this.#spans[index].setAttribute("aria-pressed", String(days === this.#days)));
    this.#body.replaceChildren(make("p", { class: "empty" }, say("loading")));
    this.#opened.replaceChildren();
    this.#reading.now();
  }
  async #load() {
    const query = this.#query;
    const found = await get(`/v2/reports?${query}`);
    if (query !== this.#query) return; // something else has been chosen since
    this.#body.replaceChildren(this.#table(found, query), !found.complete ? make("p", { class: "hint" }, say("reportIncomplete")) : "");
  }
  #table({ rows, total, currency }, query) {
    const line = (name, row, key) => make("tr", {}, make("th", { scope: "row" }, name), ...COLUMNS.map(([field, shown, figure]) => {
      const value = row[field] ?? null, words = value === null ? "–" : shown(value, currency, row);
      return make("td", {}, value && figure ? button(words, () => this.#open(query, key, figure), { class: "quiet figure" }) : words);
    }));
    const named = (key) => (this.#by === "day" ? dayOf(key) : this.#by === "user" ? nameOf({ id: key }) : key);
    return make("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": say("reports") }, make("table", {},
      make("thead", {}, make("tr", {}, make("th", { scope: "col" }, say(`reportBy_${this.#by}`)), ...COLUMNS.map(([field]) => make("th", { scope: "col" }, say(`figure_${field}`))))),
      make("tbody", {}, ...rows.map((row) => line(named(row.key), row, row.key)), line(say("total"), total, null))));
  }
  async #open(query, key, figure) {
    const where = key === null ? "" : `&key=${encodeURIComponent(key)}`;
    try {
      const { conversationIds } = await get(`/v2/reports/conversations?${query}${where}&figure=${figure}`);
      const list = make("ul", { class: "complaints" }), more = button(say("more"), () => next(), { class: "small" });
      const next = async () => {
        list.append(...await Promise.all(conversationIds.splice(0, OPENED).map(conversation)));
        more.hidden = !conversationIds.length;
      };
      const heading = make("h2", {}, say("behindFigure", { count: number.format(conversationIds.length) }));
      await next();
      this.#opened.replaceChildren(heading, list, more);
      this.#opened.scrollIntoView({ block: "nearest" });
    } catch (error) {
      this.#opened.replaceChildren(make("p", { class: "fault" }, error.message));
    }
  }
  #download() {
    save(`/v2/reports?${this.#query}`, "text/csv", `report-${this.#by}.csv`, (why) => this.#opened.replaceChildren(make("p", { class: "fault" }, why)));
  }
}

/* Who it is with, and about what; one that is deleted meanwhile is its id. */
async function conversation(id) {
  const row = (...told) => make("li", {}, make("a", { href: `#/inbox/${encodeURIComponent(id)}`, dir: "auto" }, ...told));
  let found;
  try { found = await get(`/v2/conversations/${encodeURIComponent(id)}`); } catch { return row(id); }
  const at = found.lastMessage?.createdAt || found.startedAt;
  return row(make("b", {}, nameOf(found)), " ", found.topic || found.lastMessage?.text.slice(0, 80) || "", " ", make("time", { datetime: at, title: exactly(at) }, moment(at)));
}
