/* Turns that ended in an error: what happened, and asking the question again where that still helps. */
import { get, post } from "./api.js";
import { make, button } from "./dom.js";
import { Refresh } from "./refresh.js";
import { KeptRows } from "./rows.js";
import { exactly, number, say } from "./i18n.js";

const PAGE_SIZE = 50, REASONS = new Set(["LLM_UNAVAILABLE", "DEADLINE", "BUDGET_SPENT", "INTERNAL"]);

export const failedView = {
  path: "failed",
  title: "failedTurns",
  glyph: "failed",
  open: (stage, context) => new FailedView(stage, context),
};

class FailedView {
  #more; #status; #admin; #ended = false; #pages = 1; #rows;
  #reading = new Refresh(() => this.#load(), (text) => { this.#status.textContent = text; });

  constructor(stage, { session }) {
    this.#admin = session.isAdmin;
    const list = make("ul", { class: "failures" });
    this.#rows = new KeptRows(list, { key: JSON.stringify, draw: (item) => this.#row(item), empty: say("nothingFailed") });
    this.#status = make("p", { class: "told", role: "status" });
    this.#more = button(say("more"), () => { this.#pages += 1; this.#reading.now(); }, { class: "quiet wide", hidden: true });
    stage.append(make("div", { class: "page" },
      make("div", { class: "row spread" }, make("h1", {}, say("failedTurns")), button(say("reload"), () => this.#reading.now())),
      make("p", { class: "hint" }, say("failedHint")), this.#status, list, this.#more));
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
    this.#rows.show(items);
    this.#more.hidden = !cursor;
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
