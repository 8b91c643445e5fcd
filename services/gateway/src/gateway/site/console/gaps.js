/* Questions that had no good answer. One click makes an answer of what an operator wrote, or of the text typed here. */
import { get, post } from "./api.js";
import { make, button } from "./dom.js";
import { KeptRows } from "./rows.js";
import { exactly, number, say } from "./i18n.js";

export class Gaps {
  #admin; #status; #rows;

  constructor(admin) {
    this.#admin = admin;
    const list = make("ul", { class: "failures" });
    this.#rows = new KeptRows(list, { key: (gap) => `${gap.id} ${gap.count} ${gap.proposed || ""}`, draw: (gap) => this.#row(gap), empty: say("noGaps") });
    this.#status = make("p", { class: "told", role: "status" });
    this.node = make("section", { "aria-label": say("gaps") },
      make("h2", {}, say("gaps")), make("p", { class: "hint" }, say("gapsHint")), this.#status, list);
  }
  async load() { this.#rows.show((await get("/v2/knowledge/gaps")).items); }
  #row(gap) {
    const id = `gap-${gap.id}`;
    const text = make("textarea", { id, rows: "2", maxlength: "4000", placeholder: say("answerHint") });
    text.value = gap.proposed || "";
    const row = make("li", { "data-gap": gap.id },
      make("div", { class: "row spread" }, make("b", {}, gap.question), make("time", { datetime: gap.lastAt }, exactly(gap.lastAt))),
      make("p", { class: "row" }, make("small", {}, say("askedTimes", { count: number.format(gap.count) })),
        ...gap.examples.slice(0, 3).map((example) => make("a", { href: `#/inbox/${encodeURIComponent(example.conversationId)}` }, example.text === gap.question ? say("conversation") : example.text))),
      this.#admin && make("label", { for: id }, gap.proposed ? say("operatorAnswered") : say("answer")), this.#admin && text,
      this.#admin && make("p", { class: "row" },
        button(say("makeAnswer"), () => this.#decide(gap, row, { answer: text.value.trim() }), { class: "small primary" }),
        button(say("dismiss"), () => this.#decide(gap, row, { dismiss: true }), { class: "small" })));
    return row;
  }
  async #decide(gap, row, body) {
    if (body.answer === "") { this.#status.textContent = say("improveEmpty"); return; }
    try {
      await post(`/v2/knowledge/gaps/${encodeURIComponent(gap.id)}`, body);
      row.remove();
      this.#status.textContent = body.dismiss ? say("dismissed") : say("nowAnswered", { question: gap.question });
    } catch (error) {
      this.#status.textContent = error.message;
    }
  }
}
