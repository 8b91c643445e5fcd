/* The inbox: who needs somebody, beside the conversation that is open. */
import { ConversationView } from "./conversation.js";
import { LISTS } from "./conversations.js";
import { make, button } from "./dom.js";
import { glyph } from "./glyphs.js";
import { block, blocks } from "./markdown.js";
import { isUnread } from "./seen.js";
import { moment, say, span } from "./i18n.js";

const WORDS_OF = {
  all: "stateAll", needs_human: "stateNeeds", mine: "stateMine", unassigned: "stateUnassigned", ai: "short_assistant", stuck: "stateStuck",
  snoozed: "stateSnoozed", resolved: "stateResolved",
};
const PRESSING = ["needs_human", "mine", "stuck"], PAUSE = 300;
/* Of a long list those rows alone are there that are seen, and some above and below; ROW is the style sheet's height. */
const ROW = 56, AROUND = 50, STEP = 20;
const DAYS = [0, 1, 7, 30]; // with a message within so many; 0: whenever
const FILTERS = "nexus.console.filters";

export const inboxView = {
  path: "inbox",
  title: "inbox",
  glyph: "inbox",
  open(stage, context, [id]) {
    const view = new InboxView(stage, context);
    view.again([id]);
    return view;
  },
};

class InboxView {
  #context; #stage; #list; #filters = {}; #place; #open; #conversation = null; #tick; #more; #search; #days; #order; #said; #saved; #reached; #rows = new Map(); #from = 0; #at = 0; #drawn = 0; #due = false; #next = null; #empty = make("li", { class: "empty" }); #typed = 0;

  constructor(stage, context) {
    this.#context = context;
    this.#stage = stage;
    const { inbox } = context;
    for (const name of LISTS) {
      this.#filters[name] = button("", () => this.#ask({ list: name }), { class: "filter", "aria-pressed": "false" },
        say(WORDS_OF[name]), make("span", { class: PRESSING.includes(name) ? "count" : "count still", hidden: true }));
    }
    this.#search = make("input", {
      type: "search", placeholder: say("inboxSearchHint"), "aria-label": say("inboxSearch"), maxlength: "200",
      oninput: () => { clearTimeout(this.#typed); this.#typed = setTimeout(() => this.#ask({ query: this.#search.value.trim() }), PAUSE); },
    });
    this.#days = make("select", { "aria-label": say("period"), onchange: () => this.#ask({ days: Number(this.#days.value) }) },
      ...DAYS.map((days) => make("option", { value: days }, spanOf(days))));
    this.#order = button("", () => this.#ask({ direction: inbox.turned === "asc" ? "desc" : "asc" }), { class: "quiet small order", title: say("turn") });
    this.#said = make("p", { class: "hint said-of-list", role: "status" });
    this.#saved = make("p", { class: "row saved" });
    this.#list = make("ul", { class: "talks" });
    this.#more = button(say("more"), () => inbox.more(), { class: "quiet wide", hidden: true });
    this.#reached = new IntersectionObserver(([one]) => { if (one.isIntersecting) inbox.more(); }, { rootMargin: "300px" });
    this.#reached.observe(this.#more);
    this.#stage.addEventListener("scroll", this.#scrolled, { capture: true, passive: true });
    this.#place = make("section", { class: "talk", "aria-label": say("conversation") });
    stage.append(make("div", { class: "split" },
      make("section", { class: "list", "aria-label": say("inbox") },
        make("div", { class: "listhead" },
          make("div", { class: "titled" }, make("h1", {}, say("inbox")), this.#order),
          make("div", { class: "find" }, this.#search, this.#days, button(say("save"), () => this.#save(), { class: "quiet small" })),
          this.#saved,
          make("div", { class: "filters", role: "group", "aria-label": say("show") }, ...Object.values(this.#filters)),
          this.#said),
        this.#list, this.#more),
      this.#place));
    context.listAddress = () => this.#address(null);
    inbox.onChange = () => this.#draw();
    this.#tick = setInterval(() => this.#age(), 1000);
    document.addEventListener("keydown", this.#key);
    this.#drawSaved();
    this.#draw();
  }
  again([id = null]) {
    const { asked, inbox } = this.#context;
    const query = asked.get("q") || "";
    if (document.activeElement !== this.#search) this.#search.value = query;
    const days = DAYS.find((one) => one === Number(asked.get("days"))) || 0;
    this.#days.value = days;
    inbox.choose({ list: asked.get("list") || "all", query, label: asked.get("label") || "", days, direction: asked.get("order") });
    this.#stage.querySelector(".split").toggleAttribute("data-open", Boolean(id));
    if (id !== this.#open) {
      this.#open = id;
      this.#at = 0;
      this.#conversation?.end();
      this.#conversation = id ? new ConversationView(this.#place, this.#context, id) : null;
      if (!id) {
        this.#context.live.follow(null);
        this.#place.replaceChildren(make("p", { class: "empty" }, say("chooseOne")));
      }
    }
    this.#draw();
  }
  frame(frame) { this.#conversation?.frame(frame); }
  /* Somebody types or looks somewhere, or no longer. */
  present() {
    this.#conversation?.present();
    this.#drawSoon(true);
  }
  end() {
    clearInterval(this.#tick);
    this.#reached.disconnect();
    this.#stage.removeEventListener("scroll", this.#scrolled, { capture: true });
    cancelAnimationFrame(this.#drawn);
    clearTimeout(this.#typed);
    document.removeEventListener("keydown", this.#key);
    this.#context.inbox.onChange = () => {};
    this.#conversation?.end();
    this.#context.live.follow(null);
  }

  /* What is shown stands in the address, so that it can be kept and passed on. */
  #address(id, changed = {}) { return `#/inbox${id ? `/${encodeURIComponent(id)}` : ""}${this.#narrowed(changed)}`; }
  #narrowed(changed = {}) {
    const { inbox } = this.#context;
    const { list, query, label, days, direction } = { list: inbox.list, query: inbox.query, label: inbox.label, days: inbox.days, direction: inbox.direction, ...changed };
    const asked = new URLSearchParams({
      ...(list !== "all" && { list }), ...(query && { q: query }), ...(label && { label }), ...(days && { days }), ...(direction && { order: direction }),
    }).toString();
    return asked && `?${asked}`;
  }
  #ask(changed) {
    location.hash = this.#address(this.#open, { ...(changed.list && { direction: null }), ...changed });
  }
  #go(id) { location.hash = this.#address(id); }
  #filtersKept() { try { return JSON.parse(localStorage.getItem(FILTERS) || "[]"); } catch { return []; } }
  #save() {
    const at = this.#address(null);
    const name = [say(WORDS_OF[this.#context.inbox.list]), this.#context.inbox.label, this.#context.inbox.query, this.#context.inbox.days && spanOf(this.#context.inbox.days)].filter(Boolean).join(" · ");
    localStorage.setItem(FILTERS, JSON.stringify([...this.#filtersKept().filter((one) => one.at !== at), { name, at }].slice(-12)));
    this.#drawSaved();
  }
  #drawSaved() {
    this.#saved.replaceChildren(...this.#filtersKept().flatMap(({ name, at }) => [
      make("a", { href: at, class: "chip" }, name),
      button("×", () => {
        localStorage.setItem(FILTERS, JSON.stringify(this.#filtersKept().filter((one) => one.at !== at)));
        this.#drawSaved();
      }, { class: "quiet small", "aria-label": say("dropFilter", { name }) }),
    ]));
  }

  #draw() {
    const { inbox } = this.#context, at = inbox.items.findIndex((item) => item.id === this.#open);
    if (at >= 0) this.#at = at;
    for (const [name, one] of Object.entries(this.#filters)) {
      one.setAttribute("aria-pressed", String(name === inbox.list));
      const count = one.querySelector(".count");
      const many = inbox.counts[{ needs_human: "needsHuman" }[name] || name] || 0;
      count.hidden = !many;
      count.textContent = many;
    }
    this.#order.textContent = say(`order_${inbox.list === "needs_human" ? "waiting" : "activity"}_${inbox.turned}`);
    this.#said.textContent = [inbox.items.length > 0 && inbox.fault, inbox.label && say("withLabel", { label: inbox.label }), !inbox.complete && say("notComplete")].filter(Boolean).join(" · ");
    this.#more.hidden = !inbox.next;
    this.#drawRows(inbox);
    // An observer tells of changes alone: whoever still sees the end behind a new page reads on, too.
    if (this.#next !== inbox.next) {
      this.#next = inbox.next;
      this.#reached.unobserve(this.#more);
      this.#reached.observe(this.#more);
    }
    this.#age();
  }
  /* Row by row: one that is as it was stays the very same node, so that focus, scrolling and the reader stay where they are. */
  #drawRows(inbox) {
    const kept = new Set();
    const narrowed = this.#narrowed();
    let at = this.#list.firstChild, place = this.#from = this.#first(inbox.items.length);
    const shown = inbox.items.slice(place, place + Math.ceil(this.#room / ROW) + 2 * AROUND);
    this.#list.style.paddingTop = `${place * ROW}px`;
    this.#list.style.paddingBottom = `${(inbox.items.length - place - shown.length) * ROW}px`;
    for (const item of shown) {
      const there = this.#context.presence.of(item.id);
      const told = `${item.id === this.#open}${isUnread(item)}${narrowed}${there.map(({ name, types }) => `${name}${types}`)}`;
      let row = this.#rows.get(item.id);
      // Five thousand rows are not written out to see that one has changed.
      const same = row && row.told === told && (row.item === item || JSON.stringify(row.item) === JSON.stringify(item));
      if (same) row.item = item;
      else {
        const focused = row?.node.contains(document.activeElement);
        const node = this.#row(item, there);
        if (row?.node === at) at = node;
        row?.node.replaceWith(node);
        row = { node, told, item };
        this.#rows.set(item.id, row);
        if (focused) node.querySelector("a").focus();
      }
      kept.add(item.id);
      place += 1;
      if (row.place !== place || row.of !== inbox.items.length) {
        Object.assign(row, { place, of: inbox.items.length });
        row.node.setAttribute("aria-posinset", place);
        row.node.setAttribute("aria-setsize", inbox.next ? -1 : row.of);
      }
      if (row.node === at) at = at.nextSibling;
      else {
        const focused = row.node.contains(document.activeElement);
        this.#list.insertBefore(row.node, at);
        if (focused) row.node.querySelector("a").focus();
      }
    }
    for (const [id, row] of this.#rows) if (!kept.has(id)) { row.node.remove(); this.#rows.delete(id); }
    this.#empty.remove();
    if (!inbox.items.length) {
      this.#empty.textContent = inbox.fault || say(inbox.loaded ? this.#nothing(inbox) : "loading");
      this.#list.append(this.#empty);
    }
  }
  /* What an empty list means. */
  #nothing({ list, query, label, days }) {
    return query || label || days ? "nobody" : { needs_human: "nobodyWaits", mine: "nothingMine", stuck: "nothingStuck", all: "nothingYet" }[list] || "nobody";
  }
  get #room() { return this.#list.parentNode.clientHeight; }
  /* The first row to be there, in steps: scrolling a little draws nothing. */
  #first(many) {
    const above = this.#list.parentNode.getBoundingClientRect().top - this.#list.getBoundingClientRect().top;
    const seen = Math.min(Math.max(0, Math.floor(above / ROW)), many);
    return Math.max(0, Math.floor((seen - AROUND) / STEP) * STEP);
  }
  #scrolled = () => this.#drawSoon();
  #drawSoon(always = this.#due) {
    this.#due = always;
    cancelAnimationFrame(this.#drawn);
    this.#drawn = requestAnimationFrame(() => {
      const { inbox } = this.#context;
      if (this.#due || this.#first(inbox.items.length) !== this.#from) this.#drawRows(inbox);
      this.#due = false;
    });
  }
  #row(item, there) {
    const last = item.lastMessage;
    const here = item.id === this.#open;
    const said = last ? `${last.role === "visitor" || last.role === "user" ? "" : `${say(`short_${last.role}`)}: `}${(["assistant", "operator"].includes(last.role) ? plain(last.text) : last.text).slice(0, 160)}` : "…";
    // Nearly all who wait have asked for a person: what they want to know tells them apart.
    const [first] = item.handOver?.summary || [];
    const why = item.state === "needs_human" && item.handOver && (item.handOver.reason === "asked" && first || [reasonOf(item.handOver), first].filter(Boolean).join(" · "));
    const unread = isUnread(item) && !here;
    // Visitors have no names: where they are tells them apart.
    const { name, page } = item.visitor || {}, where = !name && !item.labels?.length && (page?.title || pathOf(page?.url));
    return make("li", {}, make("a", {
      href: this.#address(item.id), "data-id": item.id, "data-state": item.state, ...(here && { "aria-current": "true" }), ...(unread && { "data-unread": true }),
    },
    make("span", { class: "face", "aria-hidden": "true" }, nameOf(item).slice(0, 1).toUpperCase()),
    make("span", { class: "top" },
      make("b", {}, nameOf(item)), where && make("span", { class: "where", dir: "auto" }, where), unread && make("span", { class: "unread" }, say("unread")),
      ...(item.labels || []).slice(0, 2).map((label) => make("span", { class: "chip" }, label)),
      make("time", { datetime: last?.createdAt || item.startedAt }, moment(last?.createdAt || item.startedAt))),
    make("span", { class: "bottom" },
      there.some((one) => !one.name) ? make("span", { class: "last writes" }, say("writes")) : make("span", { class: why ? "last reason" : "last", title: why ? said : null }, why || said),
      ...there.filter((one) => one.name).slice(0, 2).map(({ name, types }) => {
        const told = say(types ? "colleagueTypes" : "colleagueLooks", { name });
        return make("span", { class: "face", role: "img", title: told, "aria-label": told }, types ? "…" : name.slice(0, 1).toUpperCase());
      }),
      stateTag(item))));
  }
  #age() {
    for (const one of this.#list.querySelectorAll("[data-since]")) {
      const told = `${say("waits")} ${span(Date.now() - Date.parse(one.dataset.since))}`;
      if (one.textContent !== told) one.textContent = told;
    }
  }
  /* j and k go through the list, / into the search, Escape closes what is open; the rest is the conversation's. */
  #key = (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || /^(input|textarea|select)$/i.test(event.target.tagName)) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (document.querySelector("dialog[open]")) return;
    const { items } = this.#context.inbox;
    // What has left the list (answered, resolved) was before the one that stands in its place now.
    const next = this.#at + (items[this.#at]?.id === this.#open ? 1 : 0);
    if (event.key === "j" && items.length) this.#go(items[Math.min(next, items.length - 1)].id);
    else if (event.key === "k" && items.length) this.#go(items[Math.max(this.#at - 1, 0)].id);
    else if (event.key === "/") this.#search.focus();
    else if (!this.#conversation?.key(event.key)) {
      if (event.key !== "Escape" || !this.#open) return;
      this.#go(null);
    }
    event.preventDefault();
  };
}

const spanOf = (days) => (days > 1 ? say("lastDays", { days }) : say(days ? "lastDay" : "anyTime"));
function pathOf(url) {
  try { return new URL(url).pathname; } catch { return ""; }
}

/* The words of an answer alone, without the signs of its Markdown. */
function plain(text) {
  const nodes = blocks(text.slice(0, 400)).map((source) => block(source));
  for (const one of nodes.flatMap((node) => [...node.querySelectorAll("li, td, th, br")])) one.after(" ");
  return nodes.map((node) => node.textContent).join(" ");
}

/* A customer by their own id; a visitor, who has none that means anything, by its end. */
export function nameOf(item) {
  const id = item.visitor?.id || item.id;
  return item.visitor?.name || (id.length <= 24 ? id : `${say("visitor")} ${id.slice(-4)}`);
}

/* Why a person was asked for; of a newer release's reason only that one was. */
export function reasonOf({ reason }) {
  const known = ["asked", "missed", "rule", "budget_spent", "owner_idle", "handoff_timeout"].includes(reason) ? reason : "asked";
  return say(`reason_${known}`);
}

export function stateTag(item) {
  if (item.state === "needs_human") {
    return make("span", { class: "tag needs" }, glyph("clock"), make("span", { "data-since": item.waitingSince || item.startedAt }, say("waits")));
  }
  if (item.state === "stuck") return make("span", { class: "tag stuck" }, glyph("failed"), say("isStuck"));
  if (item.state === "resolved" || item.state === "snoozed") return make("span", { class: "tag" }, glyph(item.state === "resolved" ? "done" : "clock"), say(`is_${item.state}`));
  if (item.owner?.kind === "human") return make("span", { class: "tag human" }, glyph("person"), item.owner.name || item.owner.operatorId || say("stateHuman"));
  return make("span", { class: "tag" }, glyph("spark"), say("short_assistant"));
}
