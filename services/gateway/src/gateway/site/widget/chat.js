/* One person's chat: shows the frames that arrive, and sends what the reader asks for. */
import { Composer } from "./composer.js";
import { Connection } from "./connection.js";
import { button, draw, icon, make } from "./dom.js";
import { loadExtras } from "./extras.js";
import { FORBIDDEN_SITE } from "./identities.js";
import { initial, isMine } from "./message.js";
import { Outbox } from "./outbox.js";
import { fill, locale, words } from "./i18n.js";
import { host, server } from "./settings.js";
import { Thread } from "./thread.js";

const PATIENCE = 700; // a connection that is back sooner is not mentioned
const RECEIPT_AFTER = 400;
const LATE = 10_000; // an answer that shows nothing for so long is

export class Chat {
  over = false;
  #owner = { kind: "ai" }; #banner; #quiet = 0; #late = 0; #receipt = 0; #read = 0; #ui; #ai = true; #open = 0; #resolved = 0;

  /* ui: {announce(text), unread(), isOpen(), emit(name, detail)} */
  constructor(identity, ui) {
    this.#ui = ui;
    this.identity = identity;
    const kept = identity.kept;
    this.net = new Connection(identity, (frame) => this.#frame(frame), (state, code) => this.#connection(state, code));
    this.composer = new Composer(kept, { send: (text, files) => this.say(text, files), stop: () => this.#stop(), typing: () => this.net.send("typing") });
    this.thread = new Thread(kept, {
      decide: (actionId, decision, edits) => this.net.send(`action.${decision}`, { actionId, edits }),
      score: (score, comment) => this.net.send("conversation.rate", { score, ...(comment && { comment }) }),
      rate: (messageId, rating, reason) => this.net.send("feedback", { messageId, rating, ...(reason && { reason }) }),
      say: (text) => this.#pressed(text), draft: (text) => this.composer.draft(text), announce: ui.announce, busy: (on) => this.composer.busy(on),
      files: async (row, message) => (await this.#files)?.show(row, message),
    }, this.#intro());
    this.outbox = new Outbox(kept, (type, fields) => this.net.send(type, fields), (entry, state, reason, retry) => {
      this.thread.waiting(entry, state, reason, retry);
      this.#suggest();
    }, () => this.net.doubt());
    this.face = make("span", { class: "face", "aria-hidden": "true" });
    this.status = make("p", { class: "status" });
    this.person = button("", () => this.#askForPerson(), { class: "person" }, icon("person"), words.person);
    this.caution = make("span", { class: "fine" }, words.mistakes);
    this.#banner = make("div", { class: "banner", role: "status", hidden: true });
    this.nodes = [this.#banner, make("div", { class: "reading" }, this.thread.node, this.thread.latest), this.composer.node,
      make("div", { class: "foot" }, this.person, this.caution)];
    this.outbox.held();
    this.#show(this.#owner);
    this.#suggest();
  }
  get pressing() { return this.identity.customer || this.outbox.size > 0; }

  say(text, files) { this.outbox.add(text, files); }
  #pressed(text) { this.say(text); this.composer.input.focus(); }
  end() { this.over = true; this.outbox.forget(); this.net.close(); }
  /* Whether the AI answers at all, by the company's settings. */
  assisted(ai) { this.#ai = ai; this.#show(this.#owner); }
  /* The company's greeting has arrived. */
  presented() { this.greeting.textContent = host.greeting; this.#suggest(); }
  seen() {
    clearTimeout(this.#receipt);
    this.#receipt = setTimeout(() => {
      const seq = this.thread.lastSeq;
      if (seq > this.#read && this.#ui.isOpen() && this.net.send("receipt", { upToSeq: seq })) this.#read = seq;
    }, RECEIPT_AFTER);
  }

  #intro() {
    this.chips = make("div", { class: "suggestions" });
    this.greeting = make("p", { class: "greeting" }, host.greeting);
    this.disclosure = make("p", { class: "fine" }, words.disclosure);
    return make("div", { class: "intro" }, make("span", { class: "mark", "aria-hidden": "true" }, icon("spark")), this.greeting,
      this.disclosure, this.chips);
  }
  #suggest() {
    const texts = this.thread.empty ? host.suggestions : [];
    if ([...this.chips.children].map((chip) => chip.textContent).join("|") !== texts.join("|")) {
      this.chips.replaceChildren(...texts.map((text) => button(text, () => this.#pressed(text))));
    }
  }

  #frame(frame) {
    switch (frame.type) {
      case "welcome": return this.#welcomed(frame);
      case "snapshot": this.thread.snapshot(frame.messages, frame.events); for (const item of [...frame.messages, ...(frame.events || [])]) this.#opens(item); this.#pending(); this.#resume(); this.#suggest(); return this.seen();
      case "message.created": return this.#created(frame.message);
      case "message.ack": this.outbox.stored(frame.clientMessageId); this.#awaits(); return this.thread.acknowledged(frame.clientMessageId, frame.seq);
      case "run.started": this.#awaits(); return this.thread.started(frame);
      case "message.delta": this.#answered(); return this.thread.delta(frame);
      case "tool.started": case "tool.finished": this.#awaits(); return this.thread.tool(frame);
      case "run.finished": return this.thread.ended(frame);
      case "run.error": return this.thread.turn === frame.turnId && this.thread.dropped();
      case "run.cancelled": return this.#cancelled(frame);
      case "owner.changed": return this.#ownerChanged(frame);
      case "conversation.updated": this.#resolved = frame.resolved ? frame.seq : 0; return this.#show(this.#owner);
      case "assistant.changed": return this.#ui.assisted(frame.ai);
      case "action.updated": return this.thread.action(frame.action);
      case "alert.triggered": if (this.thread.alert(frame.alert)) this.#ui.unread(); return undefined;
      case "typing": return frame.actor === "operator" && this.thread.typing(this.#owner.name, frame.expiresInMs);
      case "receipt": return frame.actor === "operator" && this.thread.seen(frame.upToSeq);
      case "error": return this.#refused(frame);
    }
  }
  #welcomed(frame) {
    this.#at = frame.conversationId;
    this.#files ||= this.#withFiles().catch(() => null);
    this.#waitingActions = frame.pendingActions || [];
    this.#activeTurn = frame.activeTurn;
    this.thread.knows(frame.owner);
    this.#resolved = 0;
    this.#show(frame.owner);
    this.thread.dropped();
    this.#pending();
    this.#resume();
    this.outbox.flush();
  }
  /* If the page forbids our other scripts, there are no files. */
  async #withFiles() {
    const { Files } = await import(`${server}/static/files.js`), { composer, identity } = this;
    const files = new Files({ make, button, draw }, { locale, server, token: () => identity.token(), conversation: () => this.#at, root: composer.node.getRootNode() });
    composer.attach(files.pickerOfTab(identity.kept));
    return files;
  }
  #waitingActions = []; #activeTurn = null; #files; #at;
  #pending() { for (const action of this.#waitingActions) this.thread.action(action); }
  #resume() {
    const turn = this.#activeTurn;
    if (turn && this.thread.turn !== turn.turnId) this.thread.started(turn, turn.textSoFar, turn.deltaSeq);
  }

  #created(message) {
    if (message.clientMessageId) this.outbox.stored(message.clientMessageId);
    this.#opens(message);
    if (!isMine(message.role)) this.#answered();
    if (message.turnId && this.#activeTurn && message.turnId === this.#activeTurn.turnId) this.#activeTurn = null;
    if (this.thread.created(message)) {
      this.#ui.unread(message.text);
      this.#ui.emit("message", { id: message.id, role: message.role, text: message.text });
    }
    if (message.role === "system" && message.turnId === this.thread.turn) this.thread.dropped();
    this.#suggest();
    this.seen();
  }
  #cancelled({ turnId, reason }) {
    if (this.thread.turn !== turnId) return;
    this.#answered();
    this.thread.dropped();
    if (reason === "user") this.thread.notice(words.stopped);
    if (reason === "disabled") this.thread.notice(words.switchedOff);
  }
  /* The reader is told that the message has arrived if no answer begins. */
  #awaits() {
    this.#answered();
    this.#late = setTimeout(() => { if (this.#ai && this.#owner.kind === "ai" && this.net.ready) this.#notify("late", make("span", {}, words.late)); }, LATE);
  }
  #answered() {
    clearTimeout(this.#late);
    if (this.#banner.dataset.state === "late") this.#banner.hidden = true;
  }
  #stop() {
    if (this.thread.turn && !this.net.send("run.cancel", { turnId: this.thread.turn })) this.#ui.announce(words.notNow);
  }
  #refused(frame) {
    if (this.outbox.refused(frame)) {
      if (frame.retryable && frame.code !== "RATE_LIMITED") this.#notify("late", make("span", {}, words.waits));
      return;
    }
    if (frame.ref && this.thread.actionFailed(frame.ref, { NOT_FOUND: words.noLonger, BAD_FIELD: frame.message }[frame.code] || words.notNow)) return;
    const wait = Math.ceil((frame.retryAfterMs || 0) / 1000);
    const text = frame.code === "RATE_LIMITED" ? fill(words.slower, { seconds: wait || 1 }) : frame.retryable ? words.notNow : words.notPossible;
    this.thread.notice(text, "warning");
  }

  /* ---- who answers */
  #askForPerson() {
    if (!this.net.send("handoff.request")) { this.net.hurry(); this.thread.notice(words.notNow, "warning"); }
  }
  #ownerChanged(frame) {
    const { owner } = frame, previous = this.#owner;
    this.thread.knows(owner);
    this.#opens(frame);
    this.#show(owner);
    if (owner.kind !== previous.kind || owner.operatorId !== previous.operatorId || frame.opensAt) this.thread.owned(frame);
    this.#ui.emit("owner", owner);
  }
  /* A resolved conversation is opened again by the reader's message, by a person who takes it, or by a request for one. */
  #opens({ role, owner, seq }) {
    if (!(owner ? owner.kind !== "ai" : isMine(role)) || seq <= this.#open) return;
    this.#open = seq;
    this.#show(this.#owner);
  }
  #show(owner) {
    this.#owner = owner || { kind: "ai" };
    const { kind, name } = this.#owner, resolved = this.#resolved > 0 && this.#resolved >= this.#open;
    this.face.replaceChildren(kind === "human" ? initial(name) : icon(kind === "waiting" ? "clock" : "spark"));
    this.face.dataset.kind = kind;
    const ai = make("span", { class: "tag" }, words.ai);
    const texts = { human: [fill(words.talkingTo, { name: name || words.agent })], waiting: [this.#ai ? words.waitingShort : words.peopleShort], ai: this.#ai ? [ai, words.aiShort] : [words.peopleShort] };
    this.status.replaceChildren(...resolved && kind !== "ai" ? [words.resolved] : texts[kind]);
    const hadFocus = this.person.getRootNode().activeElement === this.person;
    this.person.hidden = kind !== "ai";
    if (hadFocus && this.person.hidden) this.composer.input.focus();
    this.disclosure.hidden = !this.#ai;
    this.caution.hidden = !this.#ai || kind === "human";
  }

  /* ---- the connection */
  #connection(state, code) {
    clearTimeout(this.#quiet);
    if (state === "connecting") loadExtras();
    this.composer.enabled(state !== "ended");
    this.#ui.emit("state", { state, code });
    // An action that waits for a yes may be decided elsewhere meanwhile: no later event says so.
    if (state !== "ready" && this.thread.undecided) this.net.forget();
    if (state === "ready") { this.#banner.hidden = true; return; }
    if (state !== "connecting" || !this.#banner.hidden) this.#tell(state, code);
    else this.#quiet = setTimeout(() => this.#tell(state), PATIENCE);
    this.outbox.held();
  }
  #tell(state, code) {
    const retry = button(words.tryNow, () => this.net.hurry(), { class: "link" });
    const texts = { connecting: words.connecting, offline: words.offline, ended: ENDED[code] || words.endedOther };
    const parts = [make("span", { class: "pulse", "aria-hidden": "true" }), make("span", {}, `${texts[state]} ${this.outbox.size ? words.waits : ""}`)];
    const hopeless = state === "ended" && [4503, 4510, FORBIDDEN_SITE].includes(code);
    this.#notify(state, ...parts, ...(hopeless ? [] : [retry]));
  }
  #notify(state, ...parts) {
    this.#banner.replaceChildren(...parts);
    this.#banner.dataset.state = state;
    this.#banner.hidden = false;
  }
}

const ENDED = {
  4500: words.endedToken, 4501: words.endedReload, 4502: words.endedReload, 4503: words.endedBlocked, 4504: words.endedTooMany, 4510: words.endedCompany,
  [FORBIDDEN_SITE]: words.endedSite,
};
