/* What the assistant used of its budget, and how well it did: bars for the days, and figures as text. */
import { get } from "./api.js";
import { draw, make, button } from "./dom.js";
import { Refresh } from "./refresh.js";
import { cost, dayOf, exactly, number, percent, say } from "./i18n.js";

const SPANS = [7, 30, 90];
const WIDTH = 640, HEIGHT = 140;

export const usageView = {
  path: "usage",
  title: "usage",
  glyph: "usage",
  open: (stage, context) => new UsageView(stage, context),
};

class UsageView {
  #body; #buttons; #admin; #days = 30; #reading = new Refresh(() => this.#load(this.#days), (text) => text && this.#body.replaceChildren(make("p", { class: "fault", role: "alert" }, text)));

  constructor(stage, { session }) {
    this.#admin = session.isAdmin;
    this.#buttons = SPANS.map((days) => button(say("lastDays", { days }), () => { this.#days = days; this.#reading.now(); }, { class: "filter", "aria-pressed": "false" }));
    this.#body = make("div", { class: "figures-page", "aria-live": "polite" }, make("p", { class: "empty" }, say("loading")));
    stage.append(make("div", { class: "page" }, make("div", { class: "row spread" }, make("h1", {}, say("usage")),
      make("div", { class: "filters plain", role: "group", "aria-label": say("period") }, ...this.#buttons)), this.#body));
    this.#reading.now();
  }
  end() { this.#reading.end(); }

  async #load(days) {
    SPANS.forEach((span, index) => this.#buttons[index].setAttribute("aria-pressed", String(span === days)));
    const until = new Date(), since = new Date(until - (days - 1) * 86_400_000);
    const isoDay = (time) => time.toISOString().slice(0, 10);
    const query = `from=${isoDay(since)}&to=${isoDay(until)}`;
    const names = Array.from({ length: days }, (_, index) => isoDay(new Date(since.getTime() + index * 86_400_000)));
    const [used, did] = await Promise.all([this.#admin ? get(`/v2/usage?${query}`) : null, get(`/v2/insights?${query}`)]);
    if (days !== this.#days) return; // another period was chosen meanwhile
    this.#body.replaceChildren(...(used ? spendingSections(used, names) : []), ...qualitySections(did, names));
  }
}

const sum = (days, name) => days.reduce((total, day) => total + (day[name] || 0), 0);
const share = (part, total) => (total ? percent.format(part / total) : "–");
const outOf = (part, total) => say("outOf", { part: number.format(part), whole: number.format(total) });
const card = (name, value, note = "") => make("div", { class: "card" }, make("p", {}, say(name)), make("b", {}, value), make("small", {}, note));

function costCard(days, currency) {
  const unpriced = sum(days, "unpricedTokens");
  return card("cost", cost(sum(days, "cost"), currency, unpriced), unpriced ? say("unpriced", { count: number.format(unpriced) }) : "");
}

function spendingSections({ days, budget }, names) {
  const tokens = (day) => day.promptTokens + day.completionTokens;
  const currency = days[0]?.currency || "USD";
  const limit = budget.dailyTokens;
  const part = limit ? Math.min(budget.usedToday / limit, 1) : 0;
  return [
    make("section", { "aria-label": say("spent") },
      make("div", { class: "cards" },
        card("turns", number.format(sum(days, "turns"))),
        card("tokens", number.format(days.reduce((total, day) => total + tokens(day), 0))),
        costCard(days, currency),
        card("today", number.format(budget.usedToday), limit ? say("ofBudget", { limit: number.format(limit) }) : say("noBudget"))),
      limit && make("div", { class: "meter", role: "meter", "aria-label": say("today"), "aria-valuemin": "0", "aria-valuemax": String(limit), "aria-valuenow": String(budget.usedToday) },
        bar(part)),
      bars(say("tokensPerDay"), names, new Map(days.map((day) => [day.date, tokens(day)])))),
  ];
}

function qualitySections({ days, complaints, complete }, names) {
  const talks = sum(days, "conversations"), up = sum(days, "thumbsUp"), down = sum(days, "thumbsDown");
  return [
    make("section", { "aria-label": say("doing") },
      make("h2", {}, say("doing")),
      make("div", { class: "cards" },
        card("conversations", number.format(talks)),
        card("handOffRate", share(sum(days, "handedOff"), talks), outOf(sum(days, "handedOff"), talks)),
        card("failRate", share(sum(days, "failed"), talks), outOf(sum(days, "failed"), talks)),
        card("downRate", share(down, up + down), say("ratings", { up: number.format(up), down: number.format(down) }))),
      bars(say("conversationsPerDay"), names, new Map(days.map((day) => [day.date, day.conversations]))),
      !complete && make("p", { class: "hint" }, say("incomplete"))),
    make("section", { "aria-label": say("complaints") },
      make("h2", {}, say("complaints")),
      complaints.length ? make("ul", { class: "complaints" }, ...complaints.map((complaint) => make("li", {},
        make("a", { href: `#/inbox/${encodeURIComponent(complaint.conversationId)}` }, complaint.reason || say("noReason")),
        " ", make("small", {}, exactly(complaint.givenAt))))) : make("p", { class: "empty" }, say("noComplaints"))),
  ];
}

const bar = (part) => {
  const line = draw("svg", { viewBox: "0 0 100 4", preserveAspectRatio: "none", "aria-hidden": "true" });
  line.append(draw("rect", { width: String(part * 100), height: "4" }));
  return line;
};

function bars(title, names, values) {
  const maximum = Math.max(0, ...values.values());
  const step = WIDTH / names.length;
  const columns = names.map((name, index) => {
    const value = values.get(name) || 0, height = maximum && (value / maximum) * (HEIGHT - 20);
    return draw("rect", { x: String(index * step + 1), y: String(HEIGHT - height), width: String(Math.max(step - 2, 1)), height: String(Math.max(height, value ? 2 : 0)), rx: "2" },
      draw("title", {}, `${dayOf(name)}: ${number.format(value)}`));
  });
  const table = make("details", {}, make("summary", {}, say("asTable")), make("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": title },
    make("table", {}, make("thead", {}, make("tr", {}, make("th", { scope: "col" }, say("day")), make("th", { scope: "col" }, title))),
      make("tbody", {}, ...names.filter((name) => values.has(name)).map((name) =>
        make("tr", {}, make("td", {}, dayOf(name)), make("td", {}, number.format(values.get(name)))))))));
  const summary = maximum ? say("mostADay", { count: number.format(maximum) }) : say("nothingThen");
  return make("figure", {}, make("figcaption", {}, title, make("small", {}, summary)),
    draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "bars", preserveAspectRatio: "none", role: "img", "aria-label": `${title}: ${summary}` }, ...columns),
    make("p", { class: "row spread", "aria-hidden": "true" }, make("small", {}, dayOf(names[0])), make("small", {}, dayOf(names[names.length - 1]))), maximum > 0 && table);
}
