/* Cards beside the messages' text: orders that wait for a yes, alerts that fired, pages that were read. */
import { button, icon, make } from "./dom.js";
import { countdown, moment, price, quantity } from "./figures.js";
import { fill, words } from "./i18n.js";
import { safeAddress } from "./markdown.js";

const DECIDING_MS = 15_000;
const BELL = "M6 16.5V11a6 6 0 1 1 12 0v5.5l1.5 1.5h-15ZM10 20.5a2 2 0 0 0 4 0";
const SHEET = "M13.5 3.5H6.5v17h11V7.5ZM13.5 3.5v4h4M9.5 12.5h5M9.5 16h5";

/* An action that needs a person's yes. Only the server changes its state: a click asks, the reply shows. */
export class ActionCard {
  #decide; #timer = 0; #deciding = 0; #typed = {};

  /* decide(actionId, "confirm" | "reject", edits) returns whether it could be sent. */
  constructor(action, decide) {
    this.#decide = decide;
    this.node = make("div", { class: "card action", role: "group" });
    this.update(action);
  }

  update(action) {
    // A later frame may lack details that the answer had (the estimate): known ones stay.
    const previous = (this.action || {}).details || {}, details = { ...previous, ...action.details };
    // The estimate was for the order before its edit.
    if (previous.contentHash && details.contentHash !== previous.contentHash) delete details.estimate;
    this.action = { ...this.action, ...action, details };
    this.#settled();
  }
  /* The decision was not accepted. */
  failed(text) { this.#settled(text); }

  #settled(problem = "") {
    clearTimeout(this.#deciding);
    clearInterval(this.#timer);
    // `tool`: a call of the company's own tool, which the summary names; without it the action is a paper order.
    const { state, summary, details, expiresAt } = this.action, { tool } = details;
    // Typed values and the focus are kept when the card is drawn again.
    const fields = [...this.node.querySelectorAll("input")], focused = fields.find((field) => field.matches(":focus"))?.name;
    for (const { name, value } of fields) this.#typed[name] = value;
    const timeLeft = make("span", { class: "left" });
    const open = state === "pending" && !(expiresAt && Date.parse(expiresAt) <= Date.now());
    this.node.className = `card action ${open ? "pending" : state === "pending" ? "expired" : state}`;
    this.node.setAttribute("aria-label", summary);
    const title = make("div", { class: "card-title" }, make("strong", {}, tool ? "" : words.paperOrder), open ? timeLeft : "");
    const parts = [title, make("p", { class: "summary", dir: "auto" }, summary), this.#facts(details, open ? this.action.editable || {} : {})];
    if (open) parts.push(tool ? "" : make("p", { class: "fine" }, words.paperNote), this.#buttons());
    else parts.push(this.#outcome(state === "pending" ? "expired" : state, details));
    if (problem) parts.push(make("p", { class: "problem" }, problem));
    this.node.replaceChildren(...parts);
    if (focused) this.node.querySelector(`[name=${focused}]`)?.focus();
    if (open && expiresAt) this.#count(timeLeft, Date.parse(expiresAt));
  }

  #facts(details, editable) {
    const estimate = details.estimate || {}, currency = details.currency || "";
    const money = (value) => value != null && `${price(Number(value))} ${currency}`;
    const field = (name, label, value) => [label, editable[name]
      ? make("input", { type: "number", step: "any", required: true, name, "aria-label": label, value: this.#typed[name] ?? details[name] }) : value];
    const facts = (rows) => rows.filter((row) => row[1]).flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]);
    const order = facts([
      field("quantity", words.quantity, details.quantity != null && quantity(Number(details.quantity))), field("limitPrice", words.limitPrice, money(details.limitPrice)),
      [words.stopPrice, money(details.stopPrice)],
    ]);
    const estimates = facts([
      [words.estimatedPrice, money(estimate.price)], [words.estimatedAmount, money(estimate.amount)], [words.cashAfter, money(estimate.cashAfter)],
    ]);
    // The estimate is for the order as it was proposed.
    const hide = () => { for (const node of estimates) node.hidden = this.#edits(list).length > 0; };
    const list = make("dl", { oninput: hide }, ...order, ...estimates);
    hide();
    return list;
  }

  /* [name, value] of each field with another value than the order's. */
  #edits(among = this.node) {
    return [...among.querySelectorAll("input")].map((field) => [field.name, +field.value]).filter(([name, value]) => value !== +this.action.details[name]);
  }

  #buttons() {
    const row = make("div", { class: "choices" });
    const choose = (decision) => () => {
      const confirms = decision === "confirm";
      if (confirms && ![...this.node.querySelectorAll("input")].every((field) => field.reportValidity())) return;
      if (!this.#decide(this.action.id, decision, Object.fromEntries(confirms ? this.#edits() : []))) return this.#settled(words.notNow);
      row.classList.add("busy");
      for (const choice of row.querySelectorAll("button")) choice.setAttribute("aria-disabled", "true");
      this.#deciding = setTimeout(() => this.#settled(words.noDecision), DECIDING_MS);
    };
    const busy = (act) => () => { if (!row.classList.contains("busy")) act(); };
    row.append(button(words.confirm, busy(choose("confirm")), { class: "primary" }), button(words.reject, busy(choose("reject"))));
    return row;
  }

  #outcome(state, details) {
    const texts = { confirmed: words.confirmed, rejected: words.rejected, expired: words.expired, failed: words.failedOrder };
    const mark = { confirmed: "check", failed: "warning", expired: "clock" }[state] || "close";
    // The outcome's text comes in the language in which the action was asked for.
    if (details.outcome) return make("p", { class: "outcome", dir: "auto" }, icon(details.tool || details.status === "filled" || state === "failed" ? mark : "clock"), details.outcome);
    const reasons = { insufficient_cash: words.noCash, insufficient_position: words.noShares, changed: words.orderChanged };
    return make("p", { class: "outcome" }, icon(mark), `${texts[state] || state} ${reasons[details.reason] || ""}`);
  }

  #count(node, until) {
    const tick = () => {
      const seconds = Math.max(0, (until - Date.now()) / 1000);
      if (seconds <= 0) return this.#settled();
      node.textContent = seconds < 3600 ? fill(words.expiresIn, { time: countdown(seconds) }) : fill(words.expiresAt, { time: moment(until) });
      node.classList.toggle("soon", seconds < 60);
    };
    this.#timer = setInterval(tick, 1000);
    tick();
  }
}

export function alertCard(alert) {
  const condition = { ">=": words.atLeast, "<=": words.atMost }[alert.condition] || words.exactly;
  return make("div", { class: "card alert", role: "group", "aria-label": words.alert },
    make("div", { class: "card-title" }, icon(BELL), make("strong", {}, words.alert), make("span", { class: "left" }, moment(Date.parse(alert.triggeredAt)))),
    make("p", { class: "summary" }, make("b", {}, alert.symbol), " ", fill(condition, { price: price(alert.price) })),
    make("p", { class: "fine" }, fill(words.triggeredAt, { price: price(alert.triggeredPrice) })),
    ...(alert.message ? [make("p", { dir: "auto" }, alert.message)] : []));
}

export function citations(list) {
  const chips = list.map(({ url, title, heading }) => {
    const address = safeAddress(url);
    const name = [title || address, heading?.at(-1)].filter(Boolean).join(" › ").slice(0, 120);
    if (!address) return url ? null : make("li", {}, make("span", { class: "chip" }, icon(SHEET), make("span", { dir: "auto" }, name)));
    const elsewhere = !address.startsWith(`${location.origin}/`);
    return make("li", {}, make("a", { class: "chip", href: address, rel: "noopener noreferrer", title: address, ...(elsewhere && { target: "_blank" }) },
      icon(SHEET), make("span", { dir: "auto" }, name)));
  }).filter(Boolean);
  return chips.length ? make("ul", { class: "sources", "aria-label": words.sources }, ...chips) : null;
}
