/* One conversation: who answers, its messages and the running answer, what is known of the visitor, and the field to
   write in. */
import { get, post } from "./api.js";
import { Composer } from "./composer.js";
import { save } from "./copying.js";
import { Desk, changeInWords } from "./desk.js";
import { button, draw, make } from "./dom.js";
import { Files } from "./files.js";
import { glyph } from "./glyphs.js";
import { nameOf, placeOf, reasonOf } from "./inbox.js";
import { KnownOf } from "./known-of.js";
import { ask } from "./question.js";
import { Refresh } from "./refresh.js";
import { markRead } from "./seen.js";
import { session } from "./session.js";
import { shortcuts } from "./shortcuts.js";
import { Thread } from "./thread.js";
import { exactly, language, languageName, moment, number, say } from "./i18n.js";
import { showWhy } from "./why.js";

const PAGE_SIZE = 50;
const DESK_FIELDS = { s: "snooze", a: "assignee", l: "label" };
const ANSWER_MS = 8_000; // how long a request over the socket may take
/* An agent who was active within PRESENT_MS has seen new messages. Receipts are sent at most every RECEIPT_MS. */
const PRESENT_MS = 60_000, RECEIPT_MS = 10_000, ACTIVITY_EVENTS = ["pointerdown", "pointermove", "keydown", "wheel", "focus"];

export class ConversationView {
  #context; #id; #thread = new Thread(); #handOver = make("details", { class: "handover", hidden: true, "aria-label": say("handOver") }); #title = make("h1", {}, "…"); #composer; #banner; #details; #detailsButton; #typing; #owner = null; #unsent; #desk; #known; #view = null; #presence; #history = { cursor: null, busy: false, done: false }; #reading = new Refresh(() => this.#load(), (text) => this.#tellReadFault(text)); #historyReading = new Refresh(() => this.#readOlder(), (text) => this.#tellReadFault(text)); #readFault = ""; #deskFault = "";

  constructor(place, context, id) {
    this.#context = context;
    this.#id = id;
    this.#unsent = context.unsent;
    const files = new Files({ make, button, draw }, { locale: language, server: "", token: () => session.token, conversation: () => id, root: document });
    this.#thread.files = files;
    this.#composer = new Composer(id, {
      files: this.#unsent.picker(id, (saved) => files.picker(saved)), may: () => this.#confirmTake(), send: (text, files) => this.#sendMessage(text, files),
      typing: () => context.live.send("typing", { conversationId: id }),
      note: async (text, noteId) => {
        this.#thread.waits({ clientMessageId: noteId, text }, "note");
        try { await post(this.#path("notes"), { text, noteId }); } catch (error) { this.#toldElsewhere(error.message); throw error; }
        finally { this.#thread.arrived(noteId); }
        this.#reading.now();
      },
      userId: context.session.who.subject,
      draft: { read: () => this.#unsent.draft(id), write: (part) => this.#unsent.keepDraft(id, part) },
      places: () => ({
        name: this.#view?.visitor?.name, agent: context.session.who.name || context.session.who.subject, page: this.#view?.visitor?.page?.title || this.#view?.visitor?.page?.url,
      }),
    });
    this.#desk = new Desk(id, context.session.who, {
      newestSeq: () => this.#newest || undefined,
      whenSent: () => this.#isSettled(),
      onChange: (view) => { this.#changes += 1; this.#describe(view); context.inbox.put(view); this.#loadNotes(); },
      onFault: (text) => {
        this.#composer.untell(this.#deskFault);
        this.#deskFault = text;
        if (!text || this.#toldElsewhere(text)) return;
        this.#composer.tell(text);
        this.#reading.now();
      },
    });
    this.#known = new KnownOf(id);
    this.#presence = make("p", { class: "typing here", role: "status" });
    this.#banner = make("div", { class: "banner", role: "status" });
    this.#details = make("aside", { class: "details", id: "details", "aria-label": say("visitorInfo"), tabindex: "-1" });
    this.#detailsButton = button("", () => this.#toggleDetails(), {
      class: "quiet unfold", title: say("visitorInfo"), "aria-label": say("visitorInfo"), "aria-expanded": "false", "aria-controls": "details",
    }, glyph("person"));
    this.#typing = make("p", { class: "typing", role: "status" });
    this.#thread.onStop = (turnId) => this.#request("run.cancel", { turnId });
    this.#thread.onEdit = (text) => { this.#take(); this.#composer.put(text); };
    this.#thread.onWhy = (message) => showWhy(id, message);
    place.replaceChildren(
      make("header", { class: "head" },
        make("a", { class: "back", href: context.listAddress?.() || "#/inbox", "aria-label": say("backToInbox") }, glyph("back")),
        this.#title, this.#detailsButton, this.#banner),
      this.#desk.node,
      make("div", { class: "body" },
        make("div", { class: "main" }, this.#handOver, this.#thread.node, this.#typing, this.#presence, this.#composer.node),
        this.#details));
    this.#thread.onTop = () => this.#loadOlder();
    this.#unsent.watch({ id, stored: (message) => this.#stored(message), refused: (message, reason) => this.#refused(message, reason) });
    this.#showUnsent();
    for (const kind of ACTIVITY_EVENTS) addEventListener(kind, this.#active, { passive: true });
    // An action that waits for a yes may be decided while the connection is lost: no later event says so.
    context.live.follow(id, () => this.#thread.undecided);
    // The list already has most of it.
    const listed = context.inbox.items.find((conversation) => conversation.id === id);
    if (listed) this.#describe(listed);
    this.#reading.now();
    this.present();
  }
  end() {
    this.#endRequest();
    this.#unsent.watch(null);
    clearTimeout(this.#receiptTimer);
    for (const kind of ACTIVITY_EVENTS) removeEventListener(kind, this.#active);
    this.#reading.end();
    this.#historyReading.end();
  }

  /* An agent who has opened another conversation is told there what could not be done here. */
  #toldElsewhere(text) {
    const isElsewhere = !this.#desk.node.isConnected;
    if (isElsewhere) this.#context.tell(text, this.#id);
    return isElsewhere;
  }
  #path(part) { return `/v2/conversations/${encodeURIComponent(this.#id)}/${part}`; }

  /* Keys of an open conversation: r to write, n for a note, t to take over or give back, e to resolve or open again,
     those of the desk's fields, i for the visitor's details. */
  key(name) {
    if (this.#banner.hidden) return false; // it has been deleted
    if (name === "r") this.#composer.field.focus();
    else if (name === "t") this.#turnOver();
    else if (name === "e") this.#desk.turn();
    else if (name === "i") this.#toggleDetails();
    else if (name === "n") this.#composer.note();
    else if (DESK_FIELDS[name]) this.#desk.focus(DESK_FIELDS[name]);
    else if (name === "Escape" && this.#isUnfolded) this.#toggleDetails();
    else return false;
    return true;
  }

  /* On a small screen the details cover the conversation when opened; otherwise they are beside it. */
  get #isUnfolded() { return this.#details.hasAttribute("data-unfolded"); }
  #toggleDetails() {
    if (!this.#detailsButton.checkVisibility()) { this.#details.focus(); return; }
    const open = this.#details.toggleAttribute("data-unfolded");
    this.#detailsButton.setAttribute("aria-expanded", String(open));
    (open ? this.#details : this.#detailsButton).focus();
  }

  frame(frame) {
    if (frame.type === "inbox.changed" && (!frame.conversationIds.length || frame.conversationIds.includes(this.#id))) this.#reading.changed();
    if (frame.conversationId !== this.#id) return;
    switch (frame.type) {
      case "welcome":
        this.#endRequest();
        this.#ownerSeen = frame.seq;
        this.#showOwner(frame.owner);
        if (frame.activeTurn) this.#thread.soFar(frame.activeTurn);
        break;
      case "snapshot": {
        const running = this.#thread.running;
        if (!running) this.#thread.reset();
        for (const message of frame.messages) this.#add(message);
        for (const event of frame.events || []) this.#addOwnerChange(event);
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
        this.#endRequest();
        this.#thread.stopped(frame.turnId);
        this.#thread.notice(say(`stopped_${frame.reason}`));
        break;
      case "owner.changed":
        this.#endRequest();
        this.#ownerSeen = frame.seq;
        this.#composer.untell(say("noAnswer"), say("notSent"));
        this.#showOwner(frame.owner);
        if (frame.createdAt) this.#addOwnerChange(frame);
        break;
      case "conversation.rated": this.#rating = frame; if (this.#view) this.#describe(this.#view); break;
      case "action.updated": this.#thread.action(frame.action); break;
      case "error":
        this.#endRequest();
        this.#composer.tell(frame.retryable && this.#unsent.of(this.#id).length ? say("sentAgain") : frame.message);
        break;
      default:
    }
  }

  /* Shows who else is typing or looking. */
  present() {
    const present = this.#context.presence.of(this.#id), colleague = present.findLast((person) => person.name);
    this.#typing.textContent = present.some((person) => !person.name) ? say("visitorTypes") : "";
    this.#presence.textContent = colleague ? say(colleague.types ? "colleagueTypes" : "colleagueLooks", colleague) : "";
  }
  /* The socket sends the newest fifty messages; older ones are read when the agent scrolls up to them. */
  async #loadOlder() {
    const history = this.#history;
    if (history.busy || history.done || !this.#newest) return;
    history.busy = true;
    await this.#historyReading.now();
    history.busy = false;
  }
  async #readOlder() {
    const history = this.#history;
    for (let page = history.cursor ? 1 : 2; page > 0 && !history.done; page -= 1) {
      const query = new URLSearchParams({ latest: "true", limit: PAGE_SIZE, ...(history.cursor && { cursor: history.cursor }) });
      const page = await get(`${this.#path("messages")}?${query}`);
      this.#thread.older(page.items, this.#context.session.who.subject);
      for (const event of page.events || []) this.#addOwnerChange(event);
      history.cursor = page.next;
      history.done = !page.next;
    }
  }
  async #loadNotes() {
    this.#notes = await get(this.#path("notes"));
    this.#showNotes();
  }
  /* Shows the notes again after a snapshot. */
  #notes = { items: [] }; #changes = 0;
  #showNotes() {
    const myId = this.#context.session.who.subject, { items, changes = [] } = this.#notes;
    for (const note of items) this.#thread.aside(note.id, note.createdAt, note.text, "note", note.by === myId ? say("you") : note.name || note.by);
    for (const change of changes) {
      const text = changeInWords(change);
      if (text) this.#thread.aside(change.id, change.createdAt, text, "change");
    }
  }
  async #load() {
    const changes = this.#changes;
    try {
      const conversation = await get(`/v2/conversations/${encodeURIComponent(this.#id)}`);
      this.#rating = (await get(this.#path("rating"))).rating || this.#rating; // one that has just come may not be stored yet
      // A reply from before the agent's own change would show the conversation as it was.
      if (changes === this.#changes) this.#describe(conversation);
      await this.#loadNotes();
    } catch (error) {
      if (this.#title.textContent === "…") this.#title.textContent = say("conversation");
      if (error.status !== 404 || !this.#view) throw error;
      this.#forget();
    }
  }
  /* It has been deleted: so are its words on this page. What the agent has begun to write stays. */
  #forget() {
    if (this.#banner.hidden) return;
    this.#thread.reset();
    this.#thread.notice(say("wasDeleted"));
    this.#title.textContent = say("conversation");
    for (const node of [this.#handOver, this.#details, this.#desk.node]) node.replaceChildren();
    this.#banner.hidden = this.#handOver.hidden = true;
    delete this.#desk.node.dataset.told;
    this.#composer.node.hidden = !this.#composer.field.value;
  }
  #begunAnew({ owner }) {
    this.#banner.hidden = this.#composer.node.hidden = false;
    this.#showOwner(owner);
  }
  /* A fault of the agent's own action is more important than that something could not be read. */
  #tellReadFault(text) {
    if (!text) this.#composer.untell(this.#readFault);
    else if (!this.#composer.told) this.#composer.tell(text);
    this.#readFault = text;
  }
  #add(message) {
    this.#thread.add(message, this.#context.session.who.subject);
    this.#newest = Math.max(this.#newest, message.seq);
    if (Date.now() - this.#activeAt < PRESENT_MS) this.#receiptTimer ||= setTimeout(() => this.#markRead());
  }

  /* ---------------------------------------------------------------- receipts for messages and owner changes: only while
     the agent is active */
  #newest = 0; #activeAt = Date.now(); #receiptAt = 0; #receiptTimer = 0;
  #active = () => {
    this.#activeAt = Date.now();
    if (this.#activeAt - this.#receiptAt > RECEIPT_MS) this.#markRead();
  };
  #markRead() {
    this.#receiptTimer = 0;
    if (!this.#newest) return;
    this.#receiptAt = Date.now();
    if (markRead(this.#id, this.#newest)) this.#context.inbox.read();
    this.#context.live.send("receipt", { conversationId: this.#id, upToSeq: this.#newest });
  }

  /* ---------------------------------------------------------------- who answers */
  get #isMine() { return this.#owner?.kind === "human" && this.#owner.operatorId === this.#context.session.who.subject; }
  /* Shows a change of owner at its place in the thread. */
  #addOwnerChange(event) {
    this.#thread.event({ ...event, id: `owner-${event.seq}` }, this.#describeChange(event));
    this.#newest = Math.max(this.#newest, event.seq);
  }
  /* Returns the text of a change of owner: who did what. */
  #describeChange({ owner, by, name, reason, opensAt }) {
    const actor = name || owner.name || (by === this.#context.session.who.subject ? say("you") : by);
    if (owner.kind === "ai" && opensAt) return say("event_message", { reason: reasonOf({ reason }), time: exactly(opensAt) });
    if (owner.kind === "human") return say("event_taken", { name: owner.name || owner.operatorId || actor });
    if (owner.kind === "waiting") return by === "agent" ? say("event_handed", { reason: reasonOf({ reason }) }) : reasonOf({ reason });
    return by === "memory" ? say({ owner_idle: "event_idle", owner_left: "event_left" }[reason] || "event_nobody") : say("event_returned", { name: actor });
  }
  #showOwner(owner) {
    this.#owner = owner;
    const name = owner.name || owner.operatorId || "";
    const kind = owner.kind === "waiting" && this.#view?.status === "resolved" ? "resolved" : owner.kind;
    const said = { human: () => say("ownerHuman", { name }), resolved: () => say("is_resolved") }[kind] || (() => say(`owner_${kind}`));
    const text = this.#isMine ? say("ownerYou") : said();
    const pressed = this.#banner.contains(document.activeElement);
    this.#banner.dataset.owner = this.#isMine ? "me" : kind;
    this.#banner.replaceChildren(make("span", {}, text),
      this.#isMine
        ? button(say("release"), () => this.#turnOver(), { class: "small" })
        : button(say("take"), () => this.#turnOver(), { class: "small primary" }));
    this.#composer.says(this.#isMine ? "send" : "takeAndSend");
    if (pressed) this.#banner.lastChild.focus(); // the pressed button has been replaced
  }
  #turnOver() {
    if (this.#isMine) this.#request("owner.release");
    // The field has the focus at once: what is typed after the key t is a message, not keys that resolve and label.
    else this.#confirmTake().then((may) => { if (may) { this.#take(); this.#composer.field.focus(); } });
  }
  /* Sends a request that a later frame confirms. If none comes in time, a fault is shown. */
  #pending = null; #endRequest = () => {};
  #request(type, fields = {}) {
    this.#endRequest();
    const isSent = this.#context.live.send(type, { conversationId: this.#id, ...fields });
    this.#pending = new Promise((done) => {
      const end = (granted) => { clearTimeout(timer); this.#pending = null; done(granted); };
      const timer = setTimeout(() => { this.#composer.tell(say("noAnswer")); end(false); }, isSent ? ANSWER_MS : 0);
      this.#endRequest = () => end(true);
    });
  }
  /* Whether the take-over and the sent messages are stored: what is done with the conversation then comes after them. */
  async #isSettled() { return (await Promise.all([this.#pending ?? true, this.#unsent.settled(this.#id)])).every(Boolean); }
  /* Taking a conversation from a colleague needs a confirmation. */
  async #confirmTake() {
    const owner = this.#owner;
    if (owner?.kind !== "human" || this.#isMine) return true;
    const name = owner.name || owner.operatorId;
    return ask(say("ownerHuman", { name }), say("takeFromHint", { name }), say("take"));
  }
  /* If two agents take it at once, the second is told that the first has it. */
  #ownerSeen = 0;
  #take() { if (!this.#isMine) this.#request("owner.take", { seenSeq: this.#ownerSeen }); }

  /* ---------------------------------------------------------------- the agent's own messages */
  #sendMessage(text, files) {
    this.#take();
    const message = { conversationId: this.#id, clientMessageId: crypto.randomUUID(), text, files };
    this.#thread.waits(message);
    this.#unsent.add(message, this.#ownerSeen, !this.#isMine);
  }
  #showUnsent() { for (const message of this.#unsent.of(this.#id)) this.#thread.waits(message); }
  #stored({ clientMessageId }) {
    this.#thread.arrived(clientMessageId);
    this.#composer.untell(say("sentAgain"));
  }
  #refused(message, reason) {
    this.#thread.arrived(message.clientMessageId);
    this.#composer.giveBack(message.text, message.files);
    this.#composer.tell(reason);
    this.#reading.now();
  }

  #shortcuts = shortcuts();
  #rating = null;
  /* Shows why a person was asked for and what they should know: open while the visitor waits, later folded. */
  #explain({ handOver: handOver, state }) {
    this.#handOver.hidden = !handOver;
    if (!handOver) return;
    const wait = `${handOver.at} ${state === "needs_human"}`;
    if (this.#handOver.dataset.wait !== wait) this.#handOver.open = state === "needs_human";
    this.#handOver.dataset.wait = wait;
    this.#handOver.replaceChildren(...[
      make("summary", {}, glyph("person"), make("h2", {}, reasonOf(handOver)), make("time", { datetime: handOver.at, title: exactly(handOver.at) }, moment(handOver.at))),
      handOver.summary?.length > 0 && make("ul", { tabindex: "0" }, ...handOver.summary.map((line) => make("li", { dir: "auto" }, line))),
      handOver.language && make("p", {}, say("writesIn", { language: languageName(handOver.language.slice(0, 2)) }))].filter(Boolean));
  }
  #describe(conversation) {
    const { visitor = {} } = conversation, former = this.#view?.status;
    this.#view = conversation;
    if (this.#banner.hidden) this.#begunAnew(conversation);
    if (this.#owner?.kind === "waiting" && former !== conversation.status) this.#showOwner(this.#owner);
    this.#title.textContent = nameOf(conversation);
    this.#desk.show(conversation);
    this.#explain(conversation);
    this.#known.show(visitor);
    const rows = [
      ["name", visitor.name], ["email", visitor.email], ["visitorId", visitor.id], ["plan", visitor.plan], ["page", visitor.page && placeOf(visitor.page)],
      ["pages", visitor.pages?.length > 1 && visitor.pages.map((page) => page.title || page.url.replace(/^https?:\/\/[^/]+/, "")).join(" → ")],
      ["visits", visitor.visits && number.format(visitor.visits)], ["startedAt", exactly(conversation.startedAt)],
      ["messages", number.format(conversation.messageCount)],
      ["rating", this.#rating && [`${this.#rating.score} / 5`, this.#rating.comment].filter(Boolean).join(" · ")],
    ].filter(([, value]) => value);
    const saved = (accept, ending) => () => save(this.#path("transcript"), accept, `${this.#id}.${ending}`, (reason) => this.#composer.tell(reason));
    this.#details.replaceChildren(make("h2", {}, say("visitorInfo")),
      make("dl", {}, ...rows.flatMap(([name, value]) => [make("dt", {}, say(name)), make("dd", { dir: "auto" }, value)])),
      make("h2", {}, say("transcript")),
      make("p", { class: "row" }, button(say("asText"), saved("text/plain", "txt"), { class: "small" }),
        button("JSON", saved("application/json", "json"), { class: "small" })),
      this.#desk.person, this.#known.node, this.#shortcuts);
  }
}
