/* Turns that ended in an error: what happened, and the question asked again where that still helps. */
import { get, post } from "./api.js";
import { make, button } from "./dom.js";
import { exactly, number, say } from "./words-of.js";

const PAGE = 50, REASONS = new Set(["LLM_UNAVAILABLE", "DEADLINE", "BUDGET_SPENT", "INTERNAL"]);

export const failedView = {
  path: "failed",
  title: "failedTurns",
  glyph: "failed",
  open: (stage, context) => new FailedView(stage, context),
};

class FailedView {
  #list; #more; #told; #next = null; #admin; #ended = false;

  constructor(stage, { session }) {
    this.#admin = session.isAdmin;
    this.#list = make("ul", { class: "failures" });
    this.#told = make("p", { class: "told", role: "status" });
    this.#more = button(say("more"), () => this.#load(this.#next), { class: "quiet wide", hidden: true });
    stage.append(make("div", { class: "page" },
      make("div", { class: "row spread" }, make("h1", {}, say("failedTurns")), button(say("reload"), () => this.#load(null))),
      make("p", { class: "hint" }, say("failedHint")), this.#told, this.#list, this.#more));
    this.#load(null);
  }
  end() { this.#ended = true; }

  async #load(cursor) {
    this.#more.disabled = true;
    try {
      const found = await get(`/v2/turns/failed?${new URLSearchParams({ limit: PAGE, ...(cursor && { cursor }) })}`);
      if (this.#ended) return;
      const rows = found.items.map((item) => this.#row(item));
      if (cursor) this.#list.append(...rows);
      else this.#list.replaceChildren(...(rows.length ? rows : [make("li", { class: "empty" }, say("nothingFailed"))]));
      this.#next = found.next || null;
      this.#told.textContent = "";
    } catch (error) {
      this.#told.textContent = error.message;
    }
    this.#more.hidden = !this.#next;
    this.#more.disabled = false;
  }
  #row(item) {
    const reason = REASONS.has(item.code) ? say(`code_${item.code}`) : item.code;
    const outcome = make("span", { class: "outcome", role: "status" }, item.open ? "" : say("settled"));
    const again = item.open && this.#admin
      && button(say("replay"), () => this.#replay(item, again, outcome), { class: "small primary" });
    return make("li", { "data-turn": item.turnId },
      make("div", { class: "row spread" },
        make("b", {}, reason), make("time", { datetime: item.failedAt }, exactly(item.failedAt))),
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
