/* The messages of a conversation, the answer being written, and its tools meanwhile. */
import { chart } from "./charts.js";
import { make, button } from "./dom.js";
import { glyph } from "./glyphs.js";
import { block, blocks, link } from "./markdown.js";
import { exactly, moment, say } from "./i18n.js";

const NEAR = 80; // pixels from the end within which the reader follows new messages

export class Thread {
  node = make("ol", { class: "thread", "aria-live": "polite", "aria-relevant": "additions", tabindex: "0", "aria-label": say("messages"), onscroll: () => this.#scrolled() });
  onTop = () => {};
  onWhy = () => {};
  onStop = () => {};
  onEdit = () => {};
  files = null; // shows the files of messages
  #rows = new Map(); #waiting = new Map(); #draft = null; #turn = null; #text = ""; #next = 0; #tools = null;
  // Turns that are over: late signs of one (signs and events have no common order) start no new draft.
  #over = new Set();
  #following = true; #top = 0;

  /* A picture that loads late makes the thread longer; a long reply leaves it less room. */
  constructor() {
    this.node.addEventListener("load", () => this.bottom(), true);
    new ResizeObserver(() => this.bottom()).observe(this.node);
  }

  reset() {
    this.#rows.clear();
    this.#waiting.clear();
    this.#over.clear();
    this.#endDraft();
    this.node.replaceChildren();
    this.#following = true;
    this.#top = 0;
  }
  add(message, userId = "") {
    if (message.turnId) this.stopped(message.turnId);
    const row = this.#row(message, userId);
    const shownRow = this.#rows.get(message.id);
    if (shownRow) shownRow.replaceWith(row);
    else this.node.insertBefore(row, this.#draft);
    this.#rows.set(message.id, row);
    this.bottom();
  }
  /* Shows a message of the agent's own that is being sent, or a note that is being saved. */
  waits({ clientMessageId, text }, kind = "operator") {
    if (this.#waiting.has(clientMessageId)) return;
    const row = make("li", { class: `said ${kind} waiting` },
      make("p", { class: "by" }, make("b", {}, say("you")), say("sending")), make("div", { class: "text plain", dir: "auto" }, text));
    this.#waiting.set(clientMessageId, row);
    this.node.append(row);
    this.bottom(true);
  }
  /* Removes it when it is stored, or back in the field. */
  arrived(clientMessageId) {
    this.#waiting.get(clientMessageId)?.remove();
    this.#waiting.delete(clientMessageId);
  }
  /* A change of owner at its place, `text` with its time. A snapshot brings them after its messages. */
  event({ id, seq, createdAt }, text) {
    if (this.#rows.has(id)) return;
    const row = make("li", { class: "notice", "data-seq": seq }, text, " · ", make("time", { datetime: createdAt, title: exactly(createdAt) }, moment(createdAt)));
    this.node.insertBefore(row, this.#later({ seq, createdAt }));
    this.#rows.set(id, row);
    this.bottom();
  }
  notice(text) {
    this.node.insertBefore(make("li", { class: "notice" }, text), this.#draft);
    this.bottom();
  }
  action(action) {
    const state = this.node.querySelector(`[data-action="${CSS.escape(action.id)}"] .state`);
    if (!state) return;
    // The decision may have changed it.
    state.parentNode.firstChild.textContent = action.summary;
    state.textContent = say(`action_${action.state}`);
    state.dataset.state = action.state;
  }
  /* Whether an action is known to wait for a person's yes. */
  get undecided() { return Boolean(this.node.querySelector('.state[data-state="pending"]')); }

  /* ---------------------------------------------------------------- the running answer */
  begin(turnId) {
    this.#endDraft();
    this.#over.delete(turnId);
    this.#turn = turnId;
    this.#text = "";
    this.#next = 0;
    this.#tools = make("p", { class: "doing" }, say("thinks"));
    // Screen readers read the finished answer once, not letter by letter.
    this.#draft = make("li", { class: "said assistant draft", "data-turn": turnId, "aria-live": "off" },
      make("p", { class: "by" }, make("b", {}, say("draft"))),
      this.#tools,
      make("div", { class: "text" }),
      make("p", { class: "row" },
        button("", () => this.onStop(turnId), { class: "small" }, glyph("stop"), say("stop")),
        button(say("takeDraft"), () => this.onEdit(this.#text), { class: "small" })));
    this.node.append(this.#draft);
    this.bottom();
  }
  delta(frame) {
    if (this.#over.has(frame.turnId)) return;
    if (this.#turn !== frame.turnId) this.begin(frame.turnId);
    if (frame.deltaSeq === 0) { this.#text = ""; this.#next = 0; }
    // A text with a gap is not shown as a draft: the answer has all of it.
    if (frame.deltaSeq !== this.#next) return;
    this.#next += 1;
    this.#text += frame.delta;
    this.#drawDraft();
  }
  soFar(turn) {
    this.begin(turn.turnId);
    this.#text = turn.textSoFar;
    this.#next = turn.deltaSeq + 1;
    this.#drawDraft();
  }
  tool(frame) {
    if (this.#tools && frame.turnId === this.#turn) this.#tools.textContent = frame.label || frame.tool;
  }
  stopped(turnId) {
    this.#over.add(turnId);
    if (turnId === this.#turn) this.#endDraft();
  }
  get running() { return this.#turn; }

  /* Follows new messages unless the reader has scrolled up. */
  bottom(always = false) {
    if (always) this.#following = true;
    const { node } = this;
    requestAnimationFrame(() => { if (this.#following) node.scrollTop = node.scrollHeight; });
  }
  #scrolled() {
    const { scrollTop, scrollHeight, clientHeight } = this.node;
    if (scrollTop < NEAR) this.onTop();
    // Only scrolling up counts as looking back: the end also moves away when the thread gets less room.
    this.#following = scrollHeight - scrollTop - clientHeight < NEAR || (this.#following && scrollTop >= this.#top);
    this.#top = scrollTop;
  }
  /* Adds older messages; the messages being read keep their position. Newer ones may be among them, if they come before
     those of the socket. */
  older(messages, userId) {
    const { node } = this;
    const height = node.scrollHeight;
    for (const message of messages) {
      if (this.#rows.has(message.id)) continue;
      const row = this.#row(message, userId);
      node.insertBefore(row, this.#later(message));
      this.#rows.set(message.id, row);
    }
    node.scrollTop += node.scrollHeight - height;
  }
  /* A note or a change, placed by its time: it has no other order with the messages. */
  aside(id, createdAt, text, kind, by = "") {
    if (this.#rows.has(id)) return;
    const time = make("time", { datetime: createdAt, title: exactly(createdAt) }, moment(createdAt));
    const row = kind === "note"
      ? make("li", { class: "said note", "data-at": createdAt }, make("p", { class: "by" }, glyph("note"), make("b", {}, say("noteBy", { name: by })), time), make("div", { class: "text plain", dir: "auto" }, text))
      : make("li", { class: "notice change", "data-at": createdAt }, text, " · ", time);
    this.node.insertBefore(row, this.#later({ createdAt }));
    this.#rows.set(id, row);
    this.bottom();
  }
  /* What a row stands before: by their place in the log, and by their time where one has none. */
  #later({ seq, createdAt }) {
    const isLater = (row) => (seq && row.dataset.seq ? Number(row.dataset.seq) > seq
      : Date.parse(row.dataset.at || row.querySelector("time")?.dateTime) > Date.parse(createdAt));
    return [...this.node.children].find(isLater) || this.#draft;
  }
  #drawDraft() {
    this.#tools.hidden = true;
    this.#draft.querySelector(".text").replaceChildren(...blocks(this.#text).map((part) => block(part)));
    this.bottom();
  }
  #endDraft() {
    this.#draft?.remove();
    this.#draft = this.#turn = this.#tools = null;
  }

  #row(message, userId) {
    const { role } = message;
    if (role === "system") return make("li", { class: "notice", "data-id": message.id, "data-seq": message.seq, "data-at": message.createdAt }, message.text);
    const author = role === "operator" ? message.name || (message.operatorId === userId ? say("you") : say("short_operator")) : say(`by_${role}`);
    const whyButton = role === "assistant" && message.turnId
      && button("", () => this.onWhy(message), { class: "small quiet", title: say("why") }, glyph("why"), say("why"));
    return make("li", { class: `said ${role}`, "data-id": message.id, "data-seq": message.seq },
      make("p", { class: "by" }, make("b", {}, author), make("time", { datetime: message.createdAt, title: exactly(message.createdAt) }, moment(message.createdAt)), whyButton),
      this.files.isAll(message.files || [], message.text) ? "" : role === "visitor" || role === "user" ? make("div", { class: "text plain", dir: "auto" }, message.text)
        : make("div", { class: "text", dir: "auto" }, ...blocks(message.text).map((part) => block(part))),
      message.files && this.files.shown(message.files),
      ...(message.charts || []).map(chart),
      ...(message.actions || []).map((action) => make("p", { class: "action", "data-action": action.id },
        action.summary, " ", make("span", { class: "state", "data-state": action.state }, say(`action_${action.state}`)))),
      message.citations?.length > 0 && make("p", { class: "sources" }, glyph("file"),
        ...message.citations.flatMap((page, index) => [index ? ", " : "", link(page.url, [page.title || page.url], page.title || page.url)])));
  }
}
