/* The thread: messages in the order of the log, then the running answer and unsent messages. */
import { button, icon, make } from "./dom.js";
import { extras } from "./extras.js";
import { time } from "./figures.js";
import { Message, dots, isMine } from "./message.js";
import { fill, words } from "./i18n.js";
import { host } from "./settings.js";

const NEAR = 80; // pixels from the end within which the reader follows new messages
const AIR = 12; // pixels above an answer whose beginning is at the top
const ALERT_KEPT = 86_400_000;
const LONGEST_TURN = 135_000; // the service gives up after 120 s and says so

const keyOf = (message) => (isMine(message.role) && message.clientMessageId) || message.id;

export class Thread {
  turn = null; // of the running answer
  round = 0; // how often the history was drawn anew
  #messages = new Map(); #order = []; #actions = new Map(); #alerts = new Set(); #people = new Map();
  #draft = null; #typing; #typingTimer = 0; #stuck = 0; #kept; #tell;

  /* tell: {decide(id, decision), rate(id, rating, reason), score(value, comment), say(text), draft(text), announce(text), busy(on), files(one, message)} */
  constructor(kept, tell, intro) {
    this.#kept = kept;
    this.#tell = tell;
    this.list = make("div", { class: "list" });
    this.#typing = make("div", { class: "typing", hidden: true });
    this.node = make("div", { class: "log", role: "log", "aria-live": "off", "aria-label": words.conversation, tabindex: "0", onscroll: () => this.#scrolled() },
      intro, this.list, this.#typing);
    // The keyboard or a banner makes it lower; files and pictures that load late make the list longer.
    const size = new ResizeObserver(() => { if (this.following) this.toEnd(); });
    size.observe(this.node);
    size.observe(this.list);
    this.latest = button("", () => this.toEnd(true), { class: "latest", hidden: true, "aria-label": words.latest }, icon("down"), words.latest);
  }
  get empty() { return this.#order.length === 0; }
  get undecided() { return [...this.#actions.values()].some((card) => card.action.state === "pending"); }
  get lastSeq() { return this.#order.reduce((seq, row) => (row.seq < Infinity && row.seq > seq ? row.seq : seq), 0); }

  snapshot(messages, events = []) {
    const unsettled = this.#order.filter((row) => row.seq === Infinity);
    this.#order = [];
    this.round += 1;
    this.#messages.clear();
    this.list.replaceChildren();
    for (const row of unsettled) this.#put(row.key, row);
    for (const message of messages) this.created(message, false);
    for (const event of events) this.owned(event, false);
    for (const alert of this.#kept.get("alerts") || []) if (Date.now() - Date.parse(alert.triggeredAt) < ALERT_KEPT) this.#ring(alert);
    this.toEnd(true);
  }

  created(message, live = true) {
    const isOwn = isMine(message.role), key = keyOf(message);
    let row = this.#messages.get(key);
    if (row && row === this.#draft && message.role !== "assistant") { this.dropped(); row = null; } // the turn ended in a notice
    const isKnown = row && row.seq < Infinity;
    if (row && row === this.#draft) this.finished();
    if (!row) row = new Message(isOwn ? "visitor" : message.role, this.#named(message));
    row.settle(message);
    this.#beside((parts) => {
      if (row.final !== message) return;
      parts.complete(row, message, (message.actions || []).map((action) => this.#card(parts, action).node), {
        rated: this.#kept.get("ratings")?.[message.id], rate: (rating, reason) => this.#judged(this.#tell.rate(message.id, rating, reason), "ratings", message.id, rating),
        scored: this.#kept.get("scores")?.[message.id], score: (value, comment) => this.#judged(this.#tell.score(value, comment), "scores", message.id, value),
        say: this.#tell.say, draft: this.#tell.draft,
      });
    });
    if (message.files) this.#tell.files(row, message);
    this.#put(key, row);
    if (message.role === "operator") this.#typing.hidden = true;
    if (live && !isKnown && !isOwn) this.#tell.announce(`${this.#speaker(message)}: ${message.text}`);
    if (live) this.toEnd(isOwn, row);
    return !isKnown && !isOwn;
  }
  /* Adds older messages; those being read keep their position. Returns whether any was new. */
  before(messages, events = []) {
    const { node, list } = this, count = list.childElementCount, below = node.scrollHeight - node.scrollTop;
    for (const message of messages) if (!this.#messages.has(keyOf(message))) this.created(message, false);
    for (const event of events) this.owned(event, false);
    node.scrollTop = node.scrollHeight - below;
    return list.childElementCount > count;
  }
  #speaker(message) {
    return { assistant: host.title, operator: this.#named(message) || words.agent }[message.role] || words.notice;
  }

  /* Shows the reader's own message before the server has it. */
  waiting(entry, state, reason = "", retry = null) {
    const row = this.#messages.get(entry.id) || new Message("visitor");
    if (row.seq < Infinity) return;
    row.say(entry.text);
    row.delivery(state, reason, retry);
    if (!this.#messages.has(entry.id)) { this.#put(entry.id, row); this.toEnd(true); }
  }
  acknowledged(id, seq) {
    const row = this.#messages.get(id);
    if (!row || row.seq < Infinity) return;
    row.seq = seq;
    row.at = Date.now();
    row.delivery("sent");
    this.#put(id, row);
  }
  seen(upTo) {
    for (const row of this.#order) if (isMine(row.role) && row.seq <= upTo) row.delivery("seen");
  }

  #put(key, row) {
    row.key = key;
    this.#messages.set(key, row);
    this.#order = this.#order.filter((other) => other !== row);
    let index = this.#order.length;
    while (index > 0 && this.#order[index - 1].seq > row.seq) index -= 1;
    this.#order.splice(index, 0, row);
    const next = this.#order[index + 1];
    if (row.node.parentNode !== this.list || row.node.nextSibling !== (next ? next.node : null)) this.list.insertBefore(row.node, next ? next.node : null);
    for (const near of [index - 1, index, index + 1]) if (this.#order[near]) this.#order[near].place(this.#order[near - 1], this.#order[near + 1]);
  }

  /* ---- the running answer */
  started({ turnId, messageId }, textSoFar = "", deltaSeq = -1) {
    this.dropped();
    this.turn = turnId;
    this.#draft = new Message("assistant");
    this.#draft.text = textSoFar;
    this.#draft.next = deltaSeq + 1;
    this.#put(messageId || turnId, this.#draft);
    this.#draft.stream();
    if (textSoFar) this.#draft.writing(textSoFar);
    this.#tell.busy(true);
    this.#stuck = setTimeout(() => { this.dropped(); this.notice(words.stuck, "warning"); }, LONGEST_TURN);
    this.toEnd();
  }
  delta(frame) {
    if (!this.#draft && frame.deltaSeq === 0) this.started(frame);
    const draft = this.#draft;
    // If a piece is missing, the rest waits for the final message.
    if (!draft || draft.key !== frame.messageId || frame.deltaSeq !== draft.next) return;
    draft.next += 1;
    draft.text += frame.delta;
    if (draft.due) return;
    draft.due = requestAnimationFrame(() => { draft.due = 0; if (draft === this.#draft) { draft.writing(draft.text); this.toEnd(false, draft); } });
  }
  tool(frame) {
    if (!this.#draft || frame.turnId !== this.turn) return;
    if (frame.type === "tool.started") { this.#draft.toolStarted(frame); this.#tell.announce(frame.label); }
    else this.#draft.toolFinished(frame);
    this.toEnd();
  }
  /* The turn has ended; its text stays until the final message replaces it. */
  finished() { clearTimeout(this.#stuck); this.turn = null; if (this.#draft) this.#draft.node.classList.remove("streaming"); this.#draft = null; this.#tell.busy(false); }
  ended({ turnId }) { if (turnId === this.turn) { clearTimeout(this.#stuck); this.turn = null; this.#tell.busy(false); } }
  dropped() {
    const draft = this.#draft;
    clearTimeout(this.#stuck);
    this.turn = this.#draft = null;
    if (draft) {
      draft.node.remove();
      this.#messages.delete(draft.key);
      this.#order = this.#order.filter((row) => row !== draft);
    }
    this.#tell.busy(false);
  }

  /* ---- the parts beside the messages: drawn when beside.js is loaded, unless the history was drawn anew meanwhile */
  #beside(draw) {
    const round = this.round;
    extras((parts) => { if (round === this.round) draw(parts); });
  }
  #card({ ActionCard }, action) {
    const settled = this.#kept.get("decided") || {};
    const existing = this.#actions.get(action.id);
    const current = action.state === "pending" && settled[action.id] ? { ...action, state: settled[action.id] } : action;
    if (existing) { if (existing.action.state === "pending" || current.state !== "pending") existing.update(current); return existing; }
    const card = new ActionCard(current, (id, decision, edits) => this.#tell.decide(id, decision, edits));
    this.#actions.set(action.id, card);
    return card;
  }
  action(action) {
    if (action.state !== "pending") this.#remember("decided", action.id, action.state);
    this.#beside((parts) => {
      const isKnown = this.#actions.has(action.id), card = this.#card(parts, action);
      const hasOutcome = Boolean((action.details || {}).outcome);
      if (isKnown ? !card.node.isConnected : hasOutcome || action.state === "pending") { this.list.append(card.node); this.toEnd(); }
      if (hasOutcome) this.#tell.announce(`${action.summary}: ${action.details.outcome}`);
    });
  }
  actionFailed(id, text) { const card = this.#actions.get(id); if (card) card.failed(text); return Boolean(card); }
  alert(alert) {
    if (this.#alerts.has(alert.id)) return false;
    this.#kept.set("alerts", [...(this.#kept.get("alerts") || []), alert].slice(-10)); // the server sends an alert once
    this.#ring(alert, true);
    return true;
  }
  #ring(alert, live = false) {
    this.#alerts.add(alert.id);
    this.#beside(({ alertCard }) => {
      const card = alertCard(alert);
      this.list.append(card);
      if (!live) return;
      this.#tell.announce(card.textContent);
      this.toEnd();
    });
  }
  /* A change of who answers has a place in the thread like a message. */
  owned({ owner, seq, createdAt, opensAt }, live = true) {
    const key = `owner-${seq}`;
    if (this.#messages.has(key)) return;
    const [text, sign] = owner.kind === "human" ? [fill(words.joined, { name: owner.name || words.agent }), "person"]
      : owner.kind === "waiting" ? [words.waitingForPerson, "clock"] : opensAt ? [words.messageTaken, "clock"] : [words.backToAi, "spark"];
    const stamp = createdAt && make("time", { datetime: createdAt }, time(new Date(createdAt)));
    this.#put(key, { role: "owner", seq, at: createdAt && Date.parse(createdAt), node: make("p", { class: "notice" }, icon(sign), text, stamp || ""), place() {} });
    if (!live) return;
    this.#tell.announce(text);
    this.toEnd();
  }
  notice(text, sign = "") {
    this.list.append(make("p", { class: "notice" }, sign ? icon(sign) : "", text));
    this.#tell.announce(text);
    this.toEnd();
  }
  #named(message) { return message.name || this.#people.get(message.operatorId); }
  knows(owner) {
    if (!owner || !owner.operatorId || !owner.name) return;
    this.#people.set(owner.operatorId, owner.name);
  }
  typing(name, milliseconds) {
    this.#typing.replaceChildren(dots(), fill(words.isWriting, { name: name || words.agent }));
    this.#typing.hidden = false;
    this.toEnd();
    clearTimeout(this.#typingTimer);
    this.#typingTimer = setTimeout(() => { this.#typing.hidden = true; }, milliseconds);
  }

  /* Remembers a rating or score once it could be sent. */
  #judged(isSent, name, id, value) {
    if (isSent) this.#remember(name, id, value);
    return isSent;
  }
  #remember(name, id, value) {
    const entries = Object.entries({ ...this.#kept.get(name), [id]: value }).slice(-100);
    this.#kept.set(name, Object.fromEntries(entries));
  }

  /* ---- follows the end unless the reader has scrolled up. A message longer than the window is followed until its
     beginning reaches the top, to be read from there. */
  toEnd(always = false, message = null) {
    if (!always && !this.following) { this.latest.hidden = false; return; }
    const end = this.node.scrollHeight - this.node.clientHeight;
    const top = !always && message ? this.node.scrollTop + message.node.getBoundingClientRect().top - this.node.getBoundingClientRect().top - AIR : end;
    const atTop = top < end && this.node.scrollTop <= top + 1; // positions are whole pixels, sizes are not
    this.node.scrollTop = atTop ? top : end;
    this.following = !atTop;
    this.latest.hidden = !atTop;
  }
  following = true; #top = 0;
  #scrolled() {
    const { scrollTop, scrollHeight, clientHeight } = this.node;
    // Only scrolling up counts as looking back: the end also moves away when something is added.
    this.following = scrollHeight - scrollTop - clientHeight < NEAR || (this.following && scrollTop >= this.#top);
    this.#top = scrollTop;
    if (this.following) this.latest.hidden = true;
  }
}
