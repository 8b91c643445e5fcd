/* Turns that ended in an error: what happened, and asking the question again where that still helps. */
import { get, post } from "./api.js";
import { make, button } from "./dom.js";
import { Refresh } from "./refresh.js";
import { exactly, number, say } from "./i18n.js";

const PAGE_SIZE = 50, REASONS = new Set(["LLM_UNAVAILABLE", "DEADLINE", "BUDGET_SPENT", "INTERNAL"]);

export const failedView = {
  path: "failed",
  title: "failedTurns",
  glyph: "failed",
  open: (stage, context) => new FailedView(stage, context),
};

class FailedView {
  #list; #more; #status; #admin; #ended = false; #pages = 1; #rows = new Map();
  #reading = new Refresh(() => this.#load(), (text) => { this.#status.textContent = text; });

  constructor(stage, { session }) {
    this.#admin = session.isAdmin;
    this.#list = make("ul", { class: "failures" });
    this.#status = make("p", { class: "told", role: "status" });
    this.#more = button(say("more"), () => { this.#pages += 1; this.#reading.now(); }, { class: "quiet wide", hidden: true });
    stage.append(make("div", { class: "page" },
      make("div", { class: "row spread" }, make("h1", {}, say("failedTurns")), button(say("reload"), () => this.#reading.now())),
      make("p", { class: "hint" }, say("failedHint")), this.#status, this.#list, this.#more));
    this.#reading.now();
  }
  /* A turn that failed, or was answered after all, changes its conversation. */
  frame(frame) { if (frame.type === "inbox.changed") this.#reading.changed(); }
  end() { this.#ended = true; this.#reading.end(); }

  async #load() {
    const items = [];
    let cursor = null;
    for (let page = 0; page < this.#pages; page += 1) {
      const page = await get(`/v2/turns/failed?${new URLSearchParams({ limit: PAGE_SIZE, ...(cursor && { cursor }) })}`);
      items.push(...page.items);
      cursor = page.next || null;
      if (!cursor) break;
    }
    if (this.#ended) return;
    this.#draw(items);
    this.#more.hidden = !cursor;
  }
  /* Unchanged rows keep their node, with the text shown in it and the focus. */
  #draw(items) {
    const previousRows = this.#rows, focused = document.activeElement;
    this.#rows = new Map(items.map((item) => {
      const key = JSON.stringify(item);
      return [key, previousRows.get(key) || this.#row(item)];
    }));
    const rows = [...this.#rows.values()];
    if (rows.length && rows.length === this.#list.children.length && rows.every((row, index) => row === this.#list.children[index])) return;
    this.#list.replaceChildren(...(rows.length ? rows : [make("li", { class: "empty" }, say("nothingFailed"))]));
    if (this.#list.contains(focused)) focused.focus();
  }
  #row(item) {
    const reason = REASONS.has(item.code) ? say(`code_${item.code}`) : item.code;
    const outcome = make("span", { class: "outcome", role: "status" }, item.open ? "" : say("settled"));
    const replayButton = item.open && this.#admin
      && button(say("replay"), () => this.#replay(item, replayButton, outcome), { class: "small primary" });
    return make("li", { "data-turn": item.turnId },
      make("div", { class: "row spread" },
        make("b", {}, reason), make("time", { datetime: item.failedAt }, exactly(item.failedAt))),
      item.question && make("p", { dir: "auto" }, item.question),
      item.detail && make("p", { class: "detail" }, item.detail),
      make("p", { class: "row" },
        make("a", { href: `#/inbox/${encodeURIComponent(item.conversationId)}` }, say("showConversation")),
        make("small", {}, say("attempts", { count: number.format(item.attempts) })), outcome, replayButton));
  }
  async #replay(item, pressed, outcome) {
    pressed.disabled = true;
    try {
      await post(`/v2/turns/failed/${encodeURIComponent(item.turnId)}/replay`, { conversationId: item.conversationId });
      pressed.remove();
      outcome.textContent = say("replayed");
    } catch (error) {
      pressed.disabled = false;
      outcome.textContent = error.message;
    }
  }
}
