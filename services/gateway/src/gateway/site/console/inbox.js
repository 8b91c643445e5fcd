/* The inbox: the list of conversations beside the open one. */
import { ConversationView } from "./conversation.js";
import { LISTS } from "./conversations.js";
import { make, button } from "./dom.js";
import { glyph } from "./glyphs.js";
import { block, blocks } from "./markdown.js";
import { isUnread } from "./seen.js";
import { isOff } from "./shortcuts.js";
import { moment, say, span } from "./i18n.js";

const LIST_LABELS = {
  all: "stateAll", needs_human: "stateNeeds", mine: "stateMine", unassigned: "stateUnassigned", ai: "short_assistant", stuck: "stateStuck",
  snoozed: "stateSnoozed", resolved: "stateResolved",
};
const URGENT = ["needs_human", "mine", "stuck"], SEARCH_PAUSE_MS = 300;
/* Only the visible rows of a long list are in the page, and some above and below. ROW_HEIGHT is that of the style sheet. */
const ROW_HEIGHT = 56, EXTRA_ROWS = 16, SCROLL_STEP = 8;
/* New and moved rows of a list that is already drawn are laid out a few in a frame, so that each frame stays short. */
const MAX_CHANGES = 4;
const DAYS = [0, 1, 7, 30]; // with a message within so many days; 0: any time
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
  #context; #stage; #list; #filters = {}; #place; #open; #conversation = null; #tick; #more; #search; #days; #order; #status; #saved; #endObserver; #rows = new Map(); #firstRow = 0; #drawnQuery = null; #openIndex = 0; #frameRequest = 0; #mustDraw = false; #nextPage = null; #empty = make("li", { class: "empty" }); #searchTimer = 0;

  constructor(stage, context) {
    this.#context = context;
    this.#stage = stage;
    const { inbox } = context;
    for (const name of LISTS) {
      this.#filters[name] = button("", () => this.#narrow({ list: name }), { class: "filter", "aria-pressed": "false" },
        say(LIST_LABELS[name]), make("span", { class: URGENT.includes(name) ? "count" : "count still", hidden: true }));
    }
    this.#search = make("input", {
      type: "search", placeholder: say("inboxSearchHint"), "aria-label": say("inboxSearch"), maxlength: "200",
      oninput: () => { clearTimeout(this.#searchTimer); this.#searchTimer = setTimeout(() => this.#narrow({ query: this.#search.value.trim() }), SEARCH_PAUSE_MS); },
    });
    this.#days = make("select", { "aria-label": say("period"), onchange: () => this.#narrow({ days: Number(this.#days.value) }) },
      ...DAYS.map((days) => make("option", { value: days }, spanOf(days))));
    this.#order = button("", () => this.#narrow({ direction: inbox.turned === "asc" ? "desc" : "asc" }), { class: "quiet small order", title: say("turn") });
    this.#status = make("p", { class: "hint said-of-list", role: "status" });
    this.#saved = make("p", { class: "row saved" });
    this.#list = make("ul", { class: "talks" });
    this.#more = button(say("more"), () => inbox.more(), { class: "quiet wide", hidden: true });
    this.#endObserver = new IntersectionObserver(([entry]) => { if (entry.isIntersecting) inbox.more(); }, { rootMargin: "300px" });
    this.#endObserver.observe(this.#more);
    this.#stage.addEventListener("scroll", this.#scrolled, { capture: true, passive: true });
    this.#place = make("section", { class: "talk", "aria-label": say("conversation"), tabindex: "-1" });
    stage.append(make("div", { class: "split" },
      make("section", { class: "list", "aria-label": say("inbox") },
        make("div", { class: "listhead" },
          make("div", { class: "titled" }, make("h1", {}, say("inbox")), this.#order),
          make("div", { class: "find" }, this.#search, this.#days, button(say("save"), () => this.#save(), { class: "quiet small" })),
          this.#saved,
          make("div", { class: "filters", role: "group", "aria-label": say("show") }, ...Object.values(this.#filters)),
          this.#status),
        this.#list, this.#more),
      this.#place));
    context.listAddress = () => this.#address(null);
    // Each of eight changed rows is read by itself: all that come before a frame are drawn in it once.
    inbox.onChange = () => this.#drawSoon(true);
    this.#tick = setInterval(() => this.#age(), 1000);
    document.addEventListener("keydown", this.#key);
    this.#drawSaved();
    this.#draw();
  }
  again([id = null]) {
    const { params, inbox } = this.#context;
    const query = params.get("q") || "";
    if (document.activeElement !== this.#search) this.#search.value = query;
    const days = DAYS.find((choice) => choice === Number(params.get("days"))) || 0;
    this.#days.value = days;
    inbox.choose({ list: params.get("list") || "all", query, label: params.get("label") || "", days, direction: params.get("order") });
    this.#stage.querySelector(".split").toggleAttribute("data-open", Boolean(id));
    if (id !== this.#open) {
      const left = this.#open;
      this.#open = id;
      this.#openIndex = 0;
      this.#conversation?.end();
      this.#conversation = id ? new ConversationView(this.#place, this.#context, id) : null;
      if (!id) {
        this.#context.live.follow(null);
        this.#place.replaceChildren(make("p", { class: "empty" }, say("chooseOne")));
      }
      this.#draw();
      // On a small screen only one of the two is there.
      if (!id) this.#rows.get(left)?.node.querySelector("a").focus();
      else if (!this.#list.checkVisibility()) this.#place.focus();
    } else this.#draw();
  }
  frame(frame) { this.#conversation?.frame(frame); }
  /* Somebody began or stopped typing or looking. */
  present() {
    this.#conversation?.present();
    this.#drawSoon(true);
  }
  end() {
    clearInterval(this.#tick);
    this.#endObserver.disconnect();
    this.#stage.removeEventListener("scroll", this.#scrolled, { capture: true });
    cancelAnimationFrame(this.#frameRequest);
    clearTimeout(this.#searchTimer);
    document.removeEventListener("keydown", this.#key);
    this.#context.inbox.onChange = () => {};
    this.#conversation?.end();
    this.#context.live.follow(null);
  }

  /* The filters are in the address, so that it can be saved and shared. */
  #address(id, changed = {}) { return `#/inbox${id ? `/${encodeURIComponent(id)}` : ""}${this.#queryString(changed)}`; }
  #queryString(changed = {}) {
    const { inbox } = this.#context;
    const { list, query, label, days, direction } = { list: inbox.list, query: inbox.query, label: inbox.label, days: inbox.days, direction: inbox.direction, ...changed };
    const params = new URLSearchParams({
      ...(list !== "all" && { list }), ...(query && { q: query }), ...(label && { label }), ...(days && { days }), ...(direction && { order: direction }),
    }).toString();
    return params && `?${params}`;
  }
  #narrow(changed) {
    location.hash = this.#address(this.#open, { ...(changed.list && { direction: null }), ...changed });
  }
  #go(id) { location.hash = this.#address(id); }
  #savedFilters() { try { return JSON.parse(localStorage.getItem(FILTERS) || "[]"); } catch { return []; } }
  #save() {
    const address = this.#address(null);
    const name = [say(LIST_LABELS[this.#context.inbox.list]), this.#context.inbox.label, this.#context.inbox.query, this.#context.inbox.days && spanOf(this.#context.inbox.days)].filter(Boolean).join(" · ");
    localStorage.setItem(FILTERS, JSON.stringify([...this.#savedFilters().filter((filter) => filter.at !== address), { name, at: address }].slice(-12)));
    this.#drawSaved();
  }
  #drawSaved() {
    this.#saved.replaceChildren(...this.#savedFilters().flatMap(({ name, at: address }) => [
      make("a", { href: address, class: "chip" }, name),
      button("×", () => {
        localStorage.setItem(FILTERS, JSON.stringify(this.#savedFilters().filter((filter) => filter.at !== address)));
        this.#drawSaved();
      }, { class: "quiet small", "aria-label": say("dropFilter", { name }) }),
    ]));
  }

  #draw() {
    const { inbox } = this.#context;
    this.#findOpen(inbox.items);
    this.#drawRows(inbox); // first: it reads the layout, which what is written below would make out of date
    for (const [name, filter] of Object.entries(this.#filters)) {
      filter.setAttribute("aria-pressed", String(name === inbox.list));
      const count = filter.querySelector(".count");
      const total = inbox.counts[{ needs_human: "needsHuman" }[name] || name] || 0;
      count.hidden = !total;
      write(count, String(total));
    }
    write(this.#order, say(`order_${inbox.list === "needs_human" ? "waiting" : "activity"}_${inbox.turned}`));
    write(this.#status, [inbox.items.length > 0 && inbox.fault, inbox.query && inbox.loaded && `${say("conversations")}: ${inbox.items.length}${inbox.next ? "+" : ""}`, inbox.label && say("withLabel", { label: inbox.label }), !inbox.complete && say("notComplete")].filter(Boolean).join(" · "));
    this.#more.hidden = !inbox.next;
    // An observer reports only changes: if the end is still visible after a new page, it must report again.
    if (this.#nextPage !== inbox.next) {
      this.#nextPage = inbox.next;
      this.#endObserver.unobserve(this.#more);
      this.#endObserver.observe(this.#more);
    }
    this.#age();
  }
  #findOpen(items) {
    const index = items.findIndex((item) => item.id === this.#open);
    if (index >= 0) this.#openIndex = index;
  }
  /* An unchanged row keeps its node, so that focus, scroll position and screen reader stay where they are. */
  #drawRows(inbox) {
    const narrowed = this.#queryString(), start = this.#firstVisible(inbox.items.length);
    const items = inbox.items.slice(start, start + Math.ceil(this.#listHeight / ROW_HEIGHT) + 2 * EXTRA_ROWS), ids = new Set(items.map(({ id }) => id));
    this.#list.style.paddingTop = `${start * ROW_HEIGHT}px`;
    this.#list.style.paddingBottom = `${(inbox.items.length - start - items.length) * ROW_HEIGHT}px`;
    this.#empty.remove();
    // First, so that no row moves only because one before it has left.
    for (const [id, row] of this.#rows) if (!ids.has(id)) { row.node.remove(); this.#rows.delete(id); }
    let changes = this.#rows.size && start === this.#firstRow && narrowed === this.#drawnQuery ? MAX_CHANGES : Infinity;
    this.#firstRow = start;
    this.#drawnQuery = narrowed;
    let expected = this.#list.firstChild, position = start;
    for (const item of items) {
      const present = this.#context.presence.of(item.id);
      const signature = `${item.id === this.#open}${isUnread(item)}${narrowed}${present.map(({ name, types }) => `${name}${types}`)}`;
      let row = this.#rows.get(item.id);
      // Not all of five thousand rows are serialised to find the changed one.
      const isSame = row && row.told === signature && (row.item === item || JSON.stringify(row.item) === JSON.stringify(item));
      if ((!isSame || row.node !== expected) && changes-- === 0) { this.#drawSoon(true); return; }
      if (isSame) row.item = item;
      else {
        const node = this.#row(item, present);
        if (row?.node === expected) { row.node.replaceWith(node); expected = node; }
        else row?.node.remove();
        row = { node, told: signature, item };
        this.#rows.set(item.id, row);
      }
      position += 1;
      if (row.place !== position || row.of !== inbox.items.length) {
        Object.assign(row, { place: position, of: inbox.items.length });
        row.node.setAttribute("aria-posinset", position);
        row.node.setAttribute("aria-setsize", inbox.next ? -1 : row.of);
      }
      if (row.node === expected) expected = expected.nextSibling;
      else this.#list.insertBefore(row.node, expected);
    }
    if (!inbox.items.length) {
      this.#empty.textContent = inbox.fault || say(inbox.loaded ? this.#emptyText(inbox) : "loading");
      this.#list.append(this.#empty);
    }
  }
  /* The text of an empty list. */
  #emptyText({ list, query, label, days }) {
    return query || label || days ? "nobody" : { needs_human: "nobodyWaits", mine: "nothingMine", stuck: "nothingStuck", all: "nothingYet" }[list] || "nobody";
  }
  get #listHeight() { return this.#list.parentNode.clientHeight; }
  /* The first row to draw, in steps: a little scrolling draws nothing. */
  #firstVisible(count) {
    const above = this.#list.parentNode.getBoundingClientRect().top - this.#list.getBoundingClientRect().top;
    const row = Math.min(Math.max(0, Math.floor(above / ROW_HEIGHT)), count);
    return Math.max(0, Math.floor((row - EXTRA_ROWS) / SCROLL_STEP) * SCROLL_STEP);
  }
  #scrolled = () => this.#drawSoon();
  #drawSoon(always = this.#mustDraw) {
    this.#mustDraw = always;
    cancelAnimationFrame(this.#frameRequest);
    this.#frameRequest = requestAnimationFrame(() => {
      const { inbox } = this.#context, mustDraw = this.#mustDraw;
      this.#mustDraw = false;
      if (mustDraw) this.#draw();
      else if (this.#firstVisible(inbox.items.length) !== this.#firstRow) this.#drawRows(inbox);
    });
  }
  #row(item, present) {
    const last = item.lastMessage;
    const isOpen = item.id === this.#open;
    const message = last ? `${last.role === "visitor" || last.role === "user" ? "" : `${say(`short_${last.role}`)}: `}${(["assistant", "operator"].includes(last.role) ? plain(last.text) : last.text).slice(0, 160)}` : "…";
    // Most who wait have asked for a person: the first line of the summary tells them apart.
    const [first] = item.handOver?.summary || [];
    const reason = item.state === "needs_human" && item.handOver && (item.handOver.reason === "asked" && first || [reasonOf(item.handOver), first].filter(Boolean).join(" · "));
    const unread = isUnread(item) && !isOpen;
    // Visitors without a name are told apart by the page they are on.
    const { name, page } = item.visitor || {}, pageLabel = !name && !item.labels?.length && (page?.title || pathOf(page?.url));
    return make("li", {}, make("a", {
      href: this.#address(item.id), "data-id": item.id, "data-state": item.state, ...(isOpen && { "aria-current": "true" }), ...(unread && { "data-unread": true }),
    },
    make("span", { class: "face", "aria-hidden": "true" }, nameOf(item).slice(0, 1).toUpperCase()),
    make("span", { class: "top" },
      make("b", {}, nameOf(item)), pageLabel && make("span", { class: "where", dir: "auto" }, pageLabel), unread && make("span", { class: "unread" }, say("unread")),
      ...(item.labels || []).slice(0, 2).map((label) => make("span", { class: "chip" }, label)),
      make("time", { datetime: last?.createdAt || item.startedAt }, moment(last?.createdAt || item.startedAt))),
    make("span", { class: "bottom" },
      present.some((person) => !person.name) ? make("span", { class: "last writes" }, say("writes")) : make("span", { class: reason ? "last reason" : "last", title: reason ? message : null }, reason || message),
      ...present.filter((person) => person.name).slice(0, 2).map(({ name, types }) => {
        const text = say(types ? "colleagueTypes" : "colleagueLooks", { name });
        return make("span", { class: "face", role: "img", title: text, "aria-label": text }, types ? "…" : name.slice(0, 1).toUpperCase());
      }),
      stateTag(item))));
  }
  #age() {
    for (const cell of this.#list.querySelectorAll("[data-since]")) {
      write(cell, `${say("waits")} ${span(Date.now() - Date.parse(cell.dataset.since))}`);
    }
  }
  /* j and k move through the list, / goes to the search, Escape closes the conversation; other keys belong to the
     conversation. */
  #key = (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || /^(input|textarea|select)$/i.test(event.target.tagName)) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (isOff(event.key) || document.querySelector("dialog[open]")) return;
    const { items } = this.#context.inbox;
    this.#findOpen(items); // it may have moved since the last frame
    // A conversation that has left the list was before the one that is now in its place.
    const next = this.#openIndex + (items[this.#openIndex]?.id === this.#open ? 1 : 0);
    if (event.key === "j" && items.length) this.#go(items[Math.min(next, items.length - 1)].id);
    else if (event.key === "k" && items.length) this.#go(items[Math.max(this.#openIndex - 1, 0)].id);
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

/* Sets a node's text if it is another: the same text again costs a layout, and may be read out again. */
export const write = (node, text) => { if (node.textContent !== text) node.textContent = text; };

/* The text of an answer without its Markdown signs. */
function plain(text) {
  const nodes = blocks(text.slice(0, 400)).map((source) => block(source));
  for (const node of nodes.flatMap((node) => [...node.querySelectorAll("li, td, th, br")])) node.after(" ");
  return nodes.map((node) => node.textContent).join(" ");
}

/* A customer is named by their own id, a visitor by the end of a random one. */
export function nameOf(item) {
  const id = item.visitor?.id || item.id;
  return item.visitor?.name || (id.length <= 24 ? id : `${say("visitor")} ${id.slice(-4)}`);
}

/* Where the visitor is: the page's title, or its address without the query. */
export function placeOf({ title, url }) {
  if (!/^https?:/.test(url || "")) return title || url;
  const { host, pathname } = new URL(url);
  return make("span", { title: url }, title || host + pathname);
}

/* Why a person was asked for; an unknown reason (of a newer release) only says that one was. */
export function reasonOf({ reason }) {
  const knownReason = ["asked", "missed", "rule", "budget_spent", "owner_idle", "handoff_timeout"].includes(reason) ? reason : "asked";
  return say(`reason_${knownReason}`);
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
