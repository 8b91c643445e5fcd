/* One conversation: who answers, what was said and is being said, what is known of the visitor, and one's own words. */
import { get, post } from "./api.js";
import { Composer } from "./composer.js";
import { save } from "./copying.js";
import { Desk, changeInWords } from "./desk.js";
import { button, draw, make } from "./dom.js";
import { Files } from "./files.js";
import { glyph } from "./glyphs.js";
import { nameOf, reasonOf } from "./inbox.js";
import { ask } from "./question.js";
import { Refresh } from "./refresh.js";
import { markRead } from "./seen.js";
import { session } from "./session.js";
import { Thread } from "./thread.js";
import { exactly, language, languageName, moment, number, say } from "./i18n.js";
import { showWhy } from "./why.js";

const PAGE = 50;
const FIELDS = { s: "snooze", a: "assignee", l: "label" };
const PATIENCE = 8_000; // for what a wish over the socket comes to
/* A hand at the page within PRESENT ms is somebody who sees what comes; signs of it go out at most every SIGN ms. */
const PRESENT = 60_000, SIGN = 10_000, HANDS = ["pointerdown", "pointermove", "keydown", "wheel", "focus"];

export class ConversationView {
  #context; #id; #thread = new Thread(); #handOver = make("details", { class: "handover", hidden: true, "aria-label": say("handOver") }); #title = make("h1", {}, "…"); #composer; #banner; #details; #more; #typing; #owner = null; #unsent; #desk; #view = null; #here; #older = { cursor: null, busy: false, done: false }; #reading = new Refresh(() => this.#load(), (text) => this.#tellUnread(text)); #olderReading = new Refresh(() => this.#readOlder(), (text) => this.#tellUnread(text)); #unread = "";

  constructor(place, context, id) {
    this.#context = context;
    this.#id = id;
    this.#unsent = context.unsent;
    const files = new Files({ make, button, draw }, { locale: language, server: "", token: () => session.token, conversation: () => id, root: document });
    this.#thread.files = files;
    this.#composer = new Composer(id, {
      files: this.#unsent.picker(id, (kept) => files.picker(kept)), may: () => this.#mayTake(), send: (text, sent) => this.#say(text, sent),
      typing: () => context.live.send("typing", { conversationId: id }),
      note: async (text, noteId) => {
        try { await post(this.#at("notes"), { text, noteId }); } catch (error) { this.#toldElsewhere(error.message); throw error; }
        this.#reading.now();
      },
      mine: context.session.who.subject,
      kept: { read: () => this.#unsent.draft(id), write: (part) => this.#unsent.keepDraft(id, part) },
      places: () => ({
        name: this.#view?.visitor?.name, agent: context.session.who.name || context.session.who.subject, page: this.#view?.visitor?.page?.title || this.#view?.visitor?.page?.url,
      }),
    });
    this.#desk = new Desk(id, context.session.who, {
      seen: () => this.#newest || undefined,
      sent: () => this.#sent(),
      onChange: (view) => { this.#describe(view); context.inbox.put(view); this.#loadNotes(); },
      onFault: (text) => {
        if (this.#toldElsewhere(text)) return;
        this.#composer.tell(text);
        this.#reading.now();
      },
    });
    this.#here = make("p", { class: "typing here", role: "status" });
    this.#banner = make("div", { class: "banner", role: "status" });
    this.#details = make("aside", { class: "details", id: "details", "aria-label": say("visitorInfo"), tabindex: "-1" });
    this.#more = button("", () => this.#unfold(), {
      class: "quiet unfold", title: say("visitorInfo"), "aria-label": say("visitorInfo"), "aria-expanded": "false", "aria-controls": "details",
    }, glyph("person"));
    this.#typing = make("p", { class: "typing", role: "status" });
    this.#thread.onStop = (turnId) => this.#wish("run.cancel", { turnId });
    this.#thread.onEdit = (text) => { this.#take(); this.#composer.put(text); };
    this.#thread.onWhy = (message) => showWhy(id, message);
    place.replaceChildren(
      make("header", { class: "head" },
        make("a", { class: "back", href: context.listAddress?.() || "#/inbox", "aria-label": say("backToInbox") }, glyph("back")),
        this.#title, this.#more, this.#banner),
      this.#desk.node,
      make("div", { class: "body" },
        make("div", { class: "main" }, this.#handOver, this.#thread.node, this.#typing, this.#here, this.#composer.node),
        this.#details));
    this.#thread.onTop = () => this.#loadOlder();
    this.#unsent.watch({ id, stored: (message) => this.#stored(message), refused: (message, why) => this.#refused(message, why) });
    this.#showUnsent();
    for (const kind of HANDS) addEventListener(kind, this.#handled, { passive: true });
    // What waits for a yes may be decided while the line is lost: no later fact of the conversation says so.
    context.live.follow(id, () => this.#thread.undecided);
    // The list knows most of it already.
    const known = context.inbox.items.find((one) => one.id === id);
    if (known) this.#describe(known);
    this.#reading.now();
    this.present();
  }
  end() {
    this.#granted();
    this.#unsent.watch(null);
    clearTimeout(this.#sign);
    for (const kind of HANDS) removeEventListener(kind, this.#handled);
    this.#reading.end();
    this.#olderReading.end();
  }

  /* Whoever has gone on to another conversation hears there of what was not done. */
  #toldElsewhere(text) {
    const left = !this.#desk.node.isConnected;
    if (left) this.#context.tell(text, this.#id);
    return left;
  }
  #at(what) { return `/v2/conversations/${encodeURIComponent(this.#id)}/${what}`; }

  /* Keys of an open conversation: r to write, n for a note, t to take over or give back, e to resolve or open again, those of
     the desk's fields, i for what is known of the visitor. */
  key(name) {
    if (name === "r") this.#composer.field.focus();
    else if (name === "t") this.#turnOver();
    else if (name === "e") this.#desk.turn();
    else if (name === "i") this.#unfold();
    else if (name === "n") this.#composer.note();
    else if (FIELDS[name]) this.#desk.focus(FIELDS[name]);
    else if (name === "Escape" && this.#unfolded) this.#unfold();
    else return false;
    return true;
  }

  /* On small screens the details lie over the conversation when they are asked for; on others they stand beside it. */
  get #unfolded() { return this.#details.hasAttribute("data-unfolded"); }
  #unfold() {
    if (!this.#more.checkVisibility()) { this.#details.focus(); return; }
    const open = this.#details.toggleAttribute("data-unfolded");
    this.#more.setAttribute("aria-expanded", String(open));
    (open ? this.#details : this.#more).focus();
  }

  frame(frame) {
    if (frame.type === "inbox.changed" && frame.conversationIds.includes(this.#id)) this.#reading.told();
    if (frame.conversationId !== this.#id) return;
    switch (frame.type) {
      case "welcome":
        this.#granted();
        this.#ownerSeen = frame.seq;
        this.#owned(frame.owner);
        if (frame.activeTurn) this.#thread.soFar(frame.activeTurn);
        break;
      case "snapshot": {
        const running = this.#thread.running;
        if (!running) this.#thread.reset();
        for (const message of frame.messages) this.#add(message);
        for (const event of frame.events || []) this.#changed(event);
        this.#showNotes();
        this.#showUnsent();
        break;
      }
      case "message.created": this.#add(frame.message); break;
      case "message.delta": this.#thread.delta(frame); break;
      case "run.started": this.#thread.begin(frame.turnId); break;
      case "tool.started": this.#thread.tool(frame); break;
      case "run.error": this.#thread.stopped(frame.turnId); break;
      case "run.cancelled":
        this.#granted();
        this.#thread.stopped(frame.turnId);
        this.#thread.notice(say(`stopped_${frame.reason}`));
        break;
      case "owner.changed":
        this.#granted();
        this.#ownerSeen = frame.seq;
        this.#composer.untell(say("noAnswer"), say("notSent"));
        this.#owned(frame.owner);
        if (frame.createdAt) this.#changed(frame);
        break;
      case "action.updated": this.#thread.action(frame.action); break;
      case "error":
        this.#granted();
        this.#composer.tell(frame.retryable && this.#unsent.of(this.#id).length ? say("sentAgain") : frame.message);
        break;
      default:
    }
  }

  /* Who else is there. */
  present() {
    const there = this.#context.presence.of(this.#id), colleague = there.findLast((one) => one.name);
    this.#typing.textContent = there.some((one) => !one.name) ? say("visitorTypes") : "";
    this.#here.textContent = colleague ? say(colleague.types ? "colleagueTypes" : "colleagueLooks", colleague) : "";
  }
  /* The socket brings the newest fifty: what is older comes as one scrolls up to it. */
  async #loadOlder() {
    const older = this.#older;
    if (older.busy || older.done || !this.#newest) return;
    older.busy = true;
    await this.#olderReading.now();
    older.busy = false;
  }
  async #readOlder() {
    const older = this.#older;
    for (let page = older.cursor ? 1 : 2; page > 0 && !older.done; page -= 1) {
      const query = new URLSearchParams({ latest: "true", limit: PAGE, ...(older.cursor && { cursor: older.cursor }) });
      const found = await get(`${this.#at("messages")}?${query}`);
      this.#thread.older(found.items, this.#context.session.who.subject);
      for (const event of found.events || []) this.#changed(event);
      older.cursor = found.next;
      older.done = !found.next;
    }
  }
  async #loadNotes() {
    this.#notes = await get(this.#at("notes"));
    this.#showNotes();
  }
  /* Again where a snapshot has come behind them. */
  #notes = { items: [] };
  #showNotes() {
    const mine = this.#context.session.who.subject, { items, changes = [] } = this.#notes;
    for (const note of items) this.#thread.aside(note.id, note.createdAt, note.text, "note", note.by === mine ? say("you") : note.name || note.by);
    for (const change of changes) {
      const text = changeInWords(change);
      if (text) this.#thread.aside(change.id, change.createdAt, text, "change");
    }
  }
  async #load() {
    try {
      const found = await get(`/v2/conversations/${encodeURIComponent(this.#id)}`);
      this.#rating = (await get(this.#at("rating"))).rating;
      this.#describe(found);
      await this.#loadNotes();
    } finally {
      if (this.#title.textContent === "…") this.#title.textContent = say("conversation");
    }
  }
  /* What one did oneself and what came of it is more than that something cannot be read. */
  #tellUnread(text) {
    if (!text) this.#composer.untell(this.#unread);
    else if (!this.#composer.told) this.#composer.tell(text);
    this.#unread = text;
  }
  #add(message) {
    this.#thread.add(message, this.#context.session.who.subject);
    this.#newest = Math.max(this.#newest, message.seq);
    if (Date.now() - this.#handAt < PRESENT) this.#sign ||= setTimeout(() => this.#read());
  }

  /* ---------------------------------------------------------------- who has seen it, messages and changes of owner: a page left open has not */
  #newest = 0; #handAt = Date.now(); #signedAt = 0; #sign = 0;
  #handled = () => {
    this.#handAt = Date.now();
    if (this.#handAt - this.#signedAt > SIGN) this.#read();
  };
  #read() {
    this.#sign = 0;
    if (!this.#newest) return;
    this.#signedAt = Date.now();
    if (markRead(this.#id, this.#newest)) this.#context.inbox.read();
    this.#context.live.send("receipt", { conversationId: this.#id, upToSeq: this.#newest });
  }

  /* ---------------------------------------------------------------- who answers */
  get #isMine() { return this.#owner?.kind === "human" && this.#owner.operatorId === this.#context.session.who.subject; }
  /* A change of owner at its place in the thread. */
  #changed(event) {
    this.#thread.event({ ...event, id: `owner-${event.seq}` }, this.#told(event));
    this.#newest = Math.max(this.#newest, event.seq);
  }
  /* And in words: who did what. */
  #told({ owner, by, name, reason, opensAt }) {
    const who = name || owner.name || (by === this.#context.session.who.subject ? say("you") : by);
    if (owner.kind === "ai" && opensAt) return say("event_message", { reason: reasonOf({ reason }), time: exactly(opensAt) });
    if (owner.kind === "human") return say("event_taken", { name: owner.name || owner.operatorId || who });
    if (owner.kind === "waiting") return by === "agent" ? say("event_handed", { reason: reasonOf({ reason }) }) : reasonOf({ reason });
    return by === "memory" ? say(reason === "owner_idle" ? "event_idle" : "event_nobody") : say("event_returned", { name: who });
  }
  #owned(owner) {
    this.#owner = owner;
    const name = owner.name || owner.operatorId || "";
    const text = this.#isMine ? say("ownerYou") : owner.kind === "human" ? say("ownerHuman", { name }) : say(`owner_${owner.kind}`);
    const pressed = this.#banner.contains(document.activeElement);
    this.#banner.dataset.owner = this.#isMine ? "me" : owner.kind;
    this.#banner.replaceChildren(make("span", {}, text),
      this.#isMine
        ? button(say("release"), () => this.#turnOver(), { class: "small" })
        : button(say("take"), () => this.#turnOver(), { class: "small primary" }));
    this.#composer.says(this.#isMine ? "send" : "takeAndSend");
    // The button that was pressed is gone: whoever took the conversation wants to write.
    if (pressed) (this.#isMine ? this.#composer.field : this.#banner.lastChild).focus();
  }
  #turnOver() {
    if (this.#isMine) this.#wish("owner.release");
    else this.#mayTake().then((may) => { if (may) this.#take(); });
  }
  /* What is asked for over the socket and tells by a later frame that it is done: nothing is said for long of none. */
  #wished = null; #granted = () => {};
  #wish(type, fields = {}) {
    this.#granted();
    const sent = this.#context.live.send(type, { conversationId: this.#id, ...fields });
    this.#wished = new Promise((done) => {
      const end = (granted) => { clearTimeout(timer); this.#wished = null; done(granted); };
      const timer = setTimeout(() => { this.#composer.tell(say("noAnswer")); end(false); }, sent ? PATIENCE : 0);
      this.#granted = () => end(true);
    });
  }
  /* Whether one's take-over and words are in the log: what is done with the conversation then comes behind them. */
  async #sent() {
    const [granted, stored] = await Promise.all([this.#wished ?? true, this.#unsent.settled(this.#id)]);
    return granted && stored;
  }
  /* From a colleague it is taken only by whoever says so twice. */
  async #mayTake() {
    const owner = this.#owner;
    if (owner?.kind !== "human" || this.#isMine) return true;
    const name = owner.name || owner.operatorId;
    return ask(say("ownerHuman", { name }), say("takeFromHint", { name }), say("take"));
  }
  /* Of two who take it at once the second is told of the first. */
  #ownerSeen = 0;
  #take() { if (!this.#isMine) this.#wish("owner.take", { seenSeq: this.#ownerSeen }); }

  /* ---------------------------------------------------------------- one's own words */
  #say(text, files) {
    this.#take();
    const message = { conversationId: this.#id, clientMessageId: crypto.randomUUID(), text, files };
    this.#thread.waits(message);
    this.#unsent.add(message, this.#ownerSeen);
  }
  #showUnsent() { for (const message of this.#unsent.of(this.#id)) this.#thread.waits(message); }
  #stored({ clientMessageId }) {
    this.#thread.arrived(clientMessageId);
    this.#composer.tell("");
  }
  #refused(message, why) {
    this.#thread.arrived(message.clientMessageId);
    this.#composer.giveBack(message.text, message.files);
    this.#composer.tell(why);
  }

  /* What the same person has asked before, and what is remembered of a customer, in their own words: read once, for it
     changes no more while one looks at this. */
  #earlier = make("div", { class: "earlier" }); #remembered = make("div", { class: "earlier" }); #whose = {};
  async #showOf(who, what, node, read) {
    if (who === this.#whose[what]) return;
    this.#whose[what] = who;
    node.replaceChildren();
    try {
      const told = who ? await read() : [];
      if (told.length && who === this.#whose[what]) node.replaceChildren(make("h2", {}, say(what)), make("ul", {}, ...told.map((one) => make("li", { dir: "auto" }, ...one))));
    } catch { this.#whose[what] = null; }
  }
  #showPerson({ id, plan, was }) {
    this.#showOf(id !== "-" && id, "earlier", this.#earlier, async () => {
      const { items } = await get(`/v2/conversations?${new URLSearchParams({ visitor: id, limit: 20 })}`);
      return items.filter((one) => one.id !== this.#id).map((one) => [
        make("a", { href: `#/inbox/${encodeURIComponent(one.id)}` }, one.topic || one.lastMessage?.text.slice(0, 60) || one.id), " ",
        make("small", {}, moment(one.lastMessage?.createdAt || one.startedAt))]);
    });
    this.#showOf((plan || was) && id, "remembered", this.#remembered, async () => {
      const known = await get(`/v2/users/${encodeURIComponent(id)}/memory`);
      return [known.name, ...(known.preferences || []), ...(known.userNotes || []), (known.favoriteSymbols || []).join(", ")].filter(Boolean).slice(0, 20).map((one) => [one]);
    });
  }
  #rating = null;
  /* Why a person was asked for, and what they should know: open while they wait, later one line. */
  #explain({ handOver: told, state }) {
    this.#handOver.hidden = !told;
    if (!told) return;
    const wait = `${told.at} ${state === "needs_human"}`;
    if (this.#handOver.dataset.wait !== wait) this.#handOver.open = state === "needs_human";
    this.#handOver.dataset.wait = wait;
    this.#handOver.replaceChildren(...[
      make("summary", {}, glyph("person"), make("h2", {}, reasonOf(told)), make("time", { datetime: told.at, title: exactly(told.at) }, moment(told.at))),
      told.summary?.length > 0 && make("ul", { tabindex: "0" }, ...told.summary.map((line) => make("li", { dir: "auto" }, line))),
      told.language && make("p", {}, say("writesIn", { language: languageName(told.language.slice(0, 2)) }))].filter(Boolean));
  }
  #describe(found) {
    const { visitor = {} } = found;
    this.#view = found;
    this.#title.textContent = nameOf(found);
    this.#desk.show(found);
    this.#explain(found);
    this.#showPerson(visitor);
    const rows = [
      ["name", visitor.name], ["email", visitor.email], ["visitorId", visitor.id], ["plan", visitor.plan], ["page", visitor.page && placeOf(visitor.page)],
      ["pages", visitor.pages?.length > 1 && visitor.pages.map((page) => page.title || page.url.replace(/^https?:\/\/[^/]+/, "")).join(" → ")],
      ["visits", visitor.visits && number.format(visitor.visits)], ["startedAt", exactly(found.startedAt)],
      ["messages", number.format(found.messageCount)],
      ["rating", this.#rating && [`${this.#rating.score} / 5`, this.#rating.comment].filter(Boolean).join(" · ")],
    ].filter(([, value]) => value);
    const saved = (accept, ending) => () => save(this.#at("transcript"), accept, `${this.#id}.${ending}`, (why) => this.#composer.tell(why));
    this.#details.replaceChildren(make("h2", {}, say("visitorInfo")),
      make("dl", {}, ...rows.flatMap(([name, value]) => [make("dt", {}, say(name)), make("dd", { dir: "auto" }, value)])),
      make("h2", {}, say("transcript")),
      make("p", { class: "row" }, button(say("asText"), saved("text/plain", "txt"), { class: "small" }),
        button("JSON", saved("application/json", "json"), { class: "small" })),
      this.#desk.person, this.#remembered, this.#earlier,
      make("h2", {}, say("keys")),
      make("dl", { class: "keys" }, ...[["j k", "keysMove"], ["r", "keysWrite"], ["n", "privateNote"], ["t", "keysTake"], ["e", "keysResolve"], ["s", "snooze"], ["a", "assignee"], ["l", "addLabel"], ["/", "keysFind"], ["i", "keysInfo"], ["Ctrl ↵", "keysSend"], ["Esc", "keysClose"]]
        .flatMap(([key, name]) => [make("dt", {}, make("kbd", {}, key)), make("dd", {}, say(name))])));
  }
}

/* Where somebody is: its title, or the address without what is asked behind it. */
function placeOf({ title, url }) {
  if (!/^https?:/.test(url || "")) return title || url;
  const { host, pathname } = new URL(url);
  return make("span", { title: url }, title || host + pathname);
}
