/* What will be deleted tonight because of its age, deleting a person or conversation for good, and the receipts of
   deletions. */
import { call, get } from "./api.js";
import { make, button } from "./dom.js";
import { ask } from "./question.js";
import { Refresh } from "./refresh.js";
import { exactly, number, say } from "./i18n.js";

const KINDS = ["user", "visitor", "conversation"];

export const erasuresView = {
  path: "erasures",
  title: "erasures",
  glyph: "bin",
  admin: true,
  open: (stage) => new ErasuresView(stage),
};

class ErasuresView {
  #tonight = make("p", { class: "hint" }, say("loading"));
  #fault = make("p", { class: "fault", role: "alert" });
  #list = make("ul", { class: "replies" });
  #more = make("p", { class: "row" });
  #reading = new Refresh(() => Promise.all([this.#preview(), this.#load()]), (text) => { this.#fault.textContent = text; });

  constructor(stage) {
    const kind = make("select", { "aria-label": say("eraseKind") }, ...KINDS.map((name) => make("option", { value: name }, say(`erase_${name}`))));
    const name = make("input", { "aria-label": say("eraseName"), placeholder: say("eraseName"), required: true, maxlength: "64", pattern: "[A-Za-z0-9_\\-]{1,64}", spellcheck: "false" });
    stage.append(make("div", { class: "page" }, make("h1", {}, say("erasures")),
      make("section", { "aria-label": say("tonight") }, make("h2", {}, say("tonight")), this.#tonight),
      make("section", { "aria-label": say("eraseForGood") }, make("h2", {}, say("eraseForGood")), make("p", { class: "hint" }, say("eraseHint")),
        make("form", { class: "replyform", onsubmit: (event) => { event.preventDefault(); this.#erase(kind.value, name); } },
          kind, name, make("p", { class: "row" }, make("button", { type: "submit", class: "danger" }, say("eraseForGood")))), this.#fault),
      make("section", { "aria-label": say("receipts") }, make("h2", {}, say("receipts")), this.#list, this.#more)));
    this.#reading.now();
  }
  end() { this.#reading.end(); }

  async #preview() {
    const preview = await get("/v2/keeping");
    const expiring = ["conversations", "files", "traces"].filter((kind) => preview[kind].days !== undefined && preview[kind].days !== null);
    const lines = expiring.map((kind) => say(`tonight_${kind}`, { count: number.format(preview[kind].count), more: preview[kind].atLeast ? "+" : "", days: preview[kind].days }));
    this.#tonight.textContent = lines.length ? `${say("tonightAt", { at: exactly(preview.nextRun) })} ${lines.join(" ")}` : say("tonightNothing");
  }
  async #erase(kind, name) {
    this.#fault.textContent = "";
    const chosen = name.value.trim();
    if (!await ask(say("eraseForGood"), say("eraseAsked", { kind: say(`erase_${kind}`), name: chosen }), say("eraseForGood"))) return;
    try {
      await call("DELETE", `/v2/${kind}s/${encodeURIComponent(chosen)}`);
      name.value = "";
      await this.#reading.now();
    } catch (error) { this.#fault.textContent = error.message; }
  }
  async #load(cursor = "") {
    const { items, next } = await get(`/v2/erasures?limit=20${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
    const rows = items.map(receipt);
    if (cursor) this.#list.append(...rows);
    else this.#list.replaceChildren(...(rows.length ? rows : [make("li", { class: "empty" }, say("noReceipts"))]));
    this.#more.replaceChildren(next ? button(say("more"), () => this.#load(next).catch((error) => { this.#fault.textContent = error.message; }), { class: "small" }) : "");
  }
}

function receipt(erasure) {
  const removed = erasure.removed.filter((each) => each.removed || each.remains);
  const cell = (each) => [each.goneAfter && each.remains ? say("goneAfter", { at: exactly(each.goneAfter) }) : "", each.remainsText || ""].filter(Boolean).join(" ");
  return make("li", {},
    make("p", { class: "row" }, make("b", {}, say(`erase_${erasure.kind}`)), [say(`by_${erasure.by}`), exactly(erasure.requestedAt), say(`receipt_${erasure.state}`)].join(" · ")),
    make("details", {}, make("summary", {}, say("whatWhere", { id: erasure.receiptId })),
      make("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": say("receipts") }, make("table", {},
        make("thead", {}, make("tr", {}, ...["place", "removed", "whatRemains"].map((head) => make("th", { scope: "col" }, say(head))))),
        make("tbody", {}, ...removed.map((each) => make("tr", {}, make("th", { scope: "row" }, each.place), make("td", {}, `${each.atLeast ? "≥ " : ""}${number.format(each.removed)}`), make("td", {}, cell(each)))))))));
}
