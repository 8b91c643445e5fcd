/* Turns that ended in an error: what happened, and the question asked again where that still helps. */
import { get, post } from "./api.js";
import { make, button } from "./dom.js";
import { Refresh } from "./refresh.js";
import { exactly, number, say } from "./i18n.js";

const PAGE = 50, REASONS = new Set(["LLM_UNAVAILABLE", "DEADLINE", "BUDGET_SPENT", "INTERNAL"]);

export const failedView = {
  path: "failed",
  title: "failedTurns",
  glyph: "failed",
  open: (stage, context) => new FailedView(stage, context),
};

class FailedView {
  #list; #more; #told; #admin; #ended = false; #pages = 1; #rows = new Map();
  #reading = new Refresh(() => this.#load(), (text) => { this.#told.textContent = text; });

  constructor(stage, { session }) {
    this.#admin = session.isAdmin;
    this.#list = make("ul", { class: "failures" });
    this.#told = make("p", { class: "told", role: "status" });
    this.#more = button(say("more"), () => { this.#pages += 1; this.#reading.now(); }, { class: "quiet wide", hidden: true });
    stage.append(make("div", { class: "page" },
      make("div", { class: "row spread" }, make("h1", {}, say("failedTurns")), button(say("reload"), () => this.#reading.now())),
      make("p", { class: "hint" }, say("failedHint")), this.#told, this.#list, this.#more));
    this.#reading.now();
  }
  /* A turn that has failed or is answered after all shows in its conversation. */
  frame(frame) { if (frame.type === "inbox.changed") this.#reading.told(); }
  end() { this.#ended = true; this.#reading.end(); }

  async #load() {
    const items = [];
    let cursor = null;
    for (let page = 0; page < this.#pages; page += 1) {
      const found = await get(`/v2/turns/failed?${new URLSearchParams({ limit: PAGE, ...(cursor && { cursor }) })}`);
      items.push(...found.items);
      cursor = found.next || null;
      if (!cursor) break;
    }
    if (this.#ended) return;
    this.#draw(items);
    this.#more.hidden = !cursor;
  }
  /* What has not changed stays as it is, with what was said of it and whoever stands on it. */
  #draw(items) {
    const before = this.#rows, focused = document.activeElement;
    this.#rows = new Map(items.map((item) => {
      const key = JSON.stringify(item);
      return [key, before.get(key) || this.#row(item)];
    }));
    const rows = [...this.#rows.values()];
    if (rows.length && rows.length === this.#list.children.length && rows.every((row, at) => row === this.#list.children[at])) return;
    this.#list.replaceChildren(...(rows.length ? rows : [make("li", { class: "empty" }, say("nothingFailed"))]));
    if (this.#list.contains(focused)) focused.focus();
  }
  #row(item) {
    const reason = REASONS.has(item.code) ? say(`code_${item.code}`) : item.code;
    const outcome = make("span", { class: "outcome", role: "status" }, item.open ? "" : say("settled"));
    const again = item.open && this.#admin
      && button(say("replay"), () => this.#replay(item, again, outcome), { class: "small primary" });
    return make("li", { "data-turn": item.turnId },
      make("div", { class: "row spread" },
        make("b", {}, reason), make("time", { datetime: item.failedAt }, exactly(item.failedAt))),
      item.question && make("p", { dir: "auto" }, item.question),
      item.detail && make("p", { class: "detail" }, item.detail),
      make("p", { class: "row" },
        make("a", { href: `#/inbox/${encodeURIComponent(item.conversationId)}` }, say("showConversation")),
        make("small", {}, say("attempts", { count: number.format(item.attempts) })), outcome, again));
  }
  async #replay(item, asked, outcome) {
    asked.disabled = true;
    try {
      await post(`/v2/turns/failed/${encodeURIComponent(item.turnId)}/replay`, { conversationId: item.conversationId });
      asked.remove();
      outcome.textContent = say("replayed");
    } catch (error) {
      asked.disabled = false;
      outcome.textContent = error.message;
    }
  }
}
