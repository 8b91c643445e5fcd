/* The conversation as it is seen: messages in the log's order, then what is being written or waits to be sent. */
import { button, icon, make } from "./dom.js";
import { extras } from "./extras.js";
import { time } from "./figures.js";
import { Message, dots, isMine } from "./message.js";
import { fill, words } from "./i18n.js";
import { host } from "./settings.js";

const NEAR = 80; // pixels from the end at which the reader is taken to follow
const AIR = 12; // pixels above an answer that begins at the top
const ALERT_KEPT = 86_400_000;
const LONGEST_TURN = 135_000; // the service gives up after 120 s and says so

const keyOf = (message) => (isMine(message.role) && message.clientMessageId) || message.id;

export class Thread {
  turn = null; // of the answer that is being made
  round = 0; // how often the history has been drawn anew
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
    // Words above it, or a keyboard below it, take of its height; files and pictures that come late make it longer.
    const size = new ResizeObserver(() => { if (this.following) this.toEnd(); });
    size.observe(this.node);
    size.observe(this.list);
    this.latest = button("", () => this.toEnd(true), { class: "latest", hidden: true, "aria-label": words.latest }, icon("down"), words.latest);
  }
  get empty() { return this.#order.length === 0; }
  get undecided() { return [...this.#actions.values()].some((card) => card.action.state === "pending"); }
  get lastSeq() { return this.#order.reduce((seq, one) => (one.seq < Infinity && one.seq > seq ? one.seq : seq), 0); }

  snapshot(messages, events = []) {
    const unsettled = this.#order.filter((one) => one.seq === Infinity);
    this.#order = [];
    this.round += 1;
    this.#messages.clear();
    this.list.replaceChildren();
    for (const one of unsettled) this.#put(one.key, one);
    for (const message of messages) this.created(message, false);
    for (const event of events) this.owned(event, false);
    for (const alert of this.#kept.get("alerts") || []) if (Date.now() - Date.parse(alert.triggeredAt) < ALERT_KEPT) this.#ring(alert);
    this.toEnd(true);
  }

  created(message, live = true) {
    const mine = isMine(message.role), key = keyOf(message);
    let one = this.#messages.get(key);
    if (one && one === this.#draft && message.role !== "assistant") { this.dropped(); one = null; } // it ended in a notice
    const known = one && one.seq < Infinity;
    if (one && one === this.#draft) this.finished();
    if (!one) one = new Message(mine ? "visitor" : message.role, this.#named(message));
    one.settle(message);
    this.#beside((parts) => {
      if (one.final !== message) return;
      parts.complete(one, message, (message.actions || []).map((action) => this.#card(parts, action).node), {
        rated: this.#kept.get("ratings")?.[message.id], rate: (rating, reason) => this.#judged(this.#tell.rate(message.id, rating, reason), "ratings", message.id, rating),
        scored: this.#kept.get("scores")?.[message.id], score: (value, comment) => this.#judged(this.#tell.score(value, comment), "scores", message.id, value),
        say: this.#tell.say, draft: this.#tell.draft,
      });
    });
    if (message.files) this.#tell.files(one, message);
    this.#put(key, one);
    if (message.role === "operator") this.#typing.hidden = true;
    if (live && !known && !mine) this.#tell.announce(`${this.#speaker(message)}: ${message.text}`);
    if (live) this.toEnd(mine, one);
    return !known && !mine;
  }
  /* Older ones than are there: what is read stays where it is. Says whether any was new. */
  before(messages, events = []) {
    const { node, list } = this, known = list.childElementCount, below = node.scrollHeight - node.scrollTop;
    for (const message of messages) if (!this.#messages.has(keyOf(message))) this.created(message, false);
    for (const event of events) this.owned(event, false);
    node.scrollTop = node.scrollHeight - below;
    return list.childElementCount > known;
  }
  #speaker(message) {
    return { assistant: host.title, operator: this.#named(message) || words.agent }[message.role] || words.notice;
  }

  /* One's own message, before the server has it. */
  waiting(entry, state, why = "", again = null) {
    const one = this.#messages.get(entry.id) || new Message("visitor");
    if (one.seq < Infinity) return;
    one.say(entry.text);
    one.delivery(state, why, again);
    if (!this.#messages.has(entry.id)) { this.#put(entry.id, one); this.toEnd(true); }
  }
  acknowledged(id, seq) {
    const one = this.#messages.get(id);
    if (!one || one.seq < Infinity) return;
    one.seq = seq;
    one.at = Date.now();
    one.delivery("sent");
    this.#put(id, one);
  }
  seen(upTo) {
    for (const one of this.#order) if (isMine(one.role) && one.seq <= upTo) one.delivery("seen");
  }

  #put(key, one) {
    one.key = key;
    this.#messages.set(key, one);
    this.#order = this.#order.filter((other) => other !== one);
    let at = this.#order.length;
    while (at > 0 && this.#order[at - 1].seq > one.seq) at -= 1;
    this.#order.splice(at, 0, one);
    const next = this.#order[at + 1];
    if (one.node.parentNode !== this.list || one.node.nextSibling !== (next ? next.node : null)) this.list.insertBefore(one.node, next ? next.node : null);
    for (const near of [at - 1, at, at + 1]) if (this.#order[near]) this.#order[near].place(this.#order[near - 1], this.#order[near + 1]);
  }

  /* ---- the answer that is being made */
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
    // A piece is missing: the final message brings all of it.
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
  /* The turn has ended; its text stays until the final message takes its place. */
  finished() { clearTimeout(this.#stuck); this.turn = null; if (this.#draft) this.#draft.node.classList.remove("streaming"); this.#draft = null; this.#tell.busy(false); }
  ended({ turnId }) { if (turnId === this.turn) { clearTimeout(this.#stuck); this.turn = null; this.#tell.busy(false); } }
  dropped() {
    const draft = this.#draft;
    clearTimeout(this.#stuck);
    this.turn = this.#draft = null;
    if (draft) {
      draft.node.remove();
      this.#messages.delete(draft.key);
      this.#order = this.#order.filter((one) => one !== draft);
    }
    this.#tell.busy(false);
  }

  /* ---- what stands beside the messages: drawn when beside.js is there, unless the history has been drawn anew meanwhile */
  #beside(draw) {
    const round = this.round;
    extras((parts) => { if (round === this.round) draw(parts); });
  }
  #card({ ActionCard }, action) {
    const settled = this.#kept.get("decided") || {};
    const known = this.#actions.get(action.id);
    const now = action.state === "pending" && settled[action.id] ? { ...action, state: settled[action.id] } : action;
    if (known) { if (known.action.state === "pending" || now.state !== "pending") known.update(now); return known; }
    const card = new ActionCard(now, (id, decision, edits) => this.#tell.decide(id, decision, edits));
    this.#actions.set(action.id, card);
    return card;
  }
  action(action) {
    if (action.state !== "pending") this.#remember("decided", action.id, action.state);
    this.#beside((parts) => {
      const known = this.#actions.has(action.id), card = this.#card(parts, action);
      const told = Boolean((action.details || {}).outcome);
      if (known ? !card.node.isConnected : told || action.state === "pending") { this.list.append(card.node); this.toEnd(); }
      if (told) this.#tell.announce(`${action.summary}: ${action.details.outcome}`);
    });
  }
  actionFailed(id, text) { const card = this.#actions.get(id); if (card) card.failed(text); return Boolean(card); }
  alert(alert) {
    if (this.#alerts.has(alert.id)) return false;
    this.#kept.set("alerts", [...(this.#kept.get("alerts") || []), alert].slice(-10)); // the server tells an alert once
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
  /* Who answers from here on: a place in the thread, as messages have one. */
  owned({ owner, seq, createdAt, opensAt }, live = true) {
    const key = `owner-${seq}`;
    if (this.#messages.has(key)) return;
    const [text, sign] = owner.kind === "human" ? [fill(words.joined, { name: owner.name || words.agent }), "person"]
      : owner.kind === "waiting" ? [words.waitingForPerson, "clock"] : opensAt ? [words.messageTaken, "clock"] : [words.backToAi, "spark"];
    const when = createdAt && make("time", { datetime: createdAt }, time(new Date(createdAt)));
    this.#put(key, { role: "owner", seq, at: createdAt && Date.parse(createdAt), node: make("p", { class: "notice" }, icon(sign), text, when || ""), place() {} });
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

  /* What was said of a message, once it could be sent. */
  #judged(sent, name, id, value) {
    if (sent) this.#remember(name, id, value);
    return sent;
  }
  #remember(name, id, value) {
    const all = Object.entries({ ...this.#kept.get(name), [id]: value }).slice(-100);
    this.#kept.set(name, Object.fromEntries(all));
  }

  /* ---- following the end, unless the reader looks back. What is longer than the window (`message`) is followed until its
     beginning reaches the top: one reads from there, and goes on when one likes. */
  toEnd(always = false, message = null) {
    if (!always && !this.following) { this.latest.hidden = false; return; }
    const end = this.node.scrollHeight - this.node.clientHeight;
    const top = !always && message ? this.node.scrollTop + message.node.getBoundingClientRect().top - this.node.getBoundingClientRect().top - AIR : end;
    const held = top < end && this.node.scrollTop <= top + 1; // positions are whole pixels, sizes are not
    this.node.scrollTop = held ? top : end;
    this.following = !held;
    this.latest.hidden = !held;
  }
  following = true; #top = 0;
  #scrolled() {
    const { scrollTop, scrollHeight, clientHeight } = this.node;
    // Whoever looks back scrolls up: the end also goes away when something is added.
    this.following = scrollHeight - scrollTop - clientHeight < NEAR || (this.following && scrollTop >= this.#top);
    this.#top = scrollTop;
    if (this.following) this.latest.hidden = true;
  }
}
