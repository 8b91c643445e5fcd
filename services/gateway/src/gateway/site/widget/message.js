/* One message: author, text, and delivery. Charts, orders and sources come from beside.js. */
import { button, icon, make } from "./dom.js";
import { day, time } from "./figures.js";
import { block, blocks } from "./markdown.js";
import { words } from "./i18n.js";
import { host } from "./settings.js";

export const isMine = (role) => role === "visitor" || role === "user";

export class Message {
  #shown = []; // sources of the blocks shown: an unchanged one keeps its node
  #who; #steps; #day; #calls = new Map();

  constructor(role, name) {
    this.role = role;
    this.seq = Infinity;
    this.#day = make("div", { class: "day" });
    this.#who = make("div", { class: "who" });
    this.#steps = make("div", { class: "steps", hidden: true });
    this.body = make("div", { class: "body", dir: "auto" });
    this.extras = make("div", { class: "extras" });
    this.meta = make("div", { class: "meta" });
    this.node = make("article", { class: `message ${isMine(role) ? "mine" : role}` },
      this.#day, this.#who, this.#steps, this.body, this.extras, this.meta);
    this.named(name);
  }
  named(name) {
    const names = { assistant: host.title, operator: name || words.agent, system: words.notice };
    const sign = this.role === "assistant" ? icon("spark") : this.role === "operator" ? make("span", { class: "initial", "aria-hidden": "true" }, initial(name)) : "";
    this.#who.replaceChildren(sign, make("span", { class: isMine(this.role) ? "unseen" : "" }, isMine(this.role) ? words.you : names[this.role]));
  }

  /* The reader's own texts and notices are shown as they are; an answer, of the assistant or a person, is Markdown, since
     either may have drafted it. */
  say(text) {
    if (this.role !== "assistant" && this.role !== "operator") { this.body.textContent = text; return; }
    const sources = blocks(text);
    let count = 0;
    while (count < sources.length && sources[count] === this.#shown[count]) count += 1;
    while (this.body.children.length > count) this.body.lastChild.remove();
    this.body.append(...sources.slice(count).map((source) => block(source)));
    this.#shown = sources;
  }

  /* Shows the stored message. */
  settle(message) {
    this.final = message;
    this.seq = message.seq;
    this.at = Date.parse(message.createdAt) || Date.now();
    this.node.classList.remove("streaming");
    this.#steps.hidden = true;
    this.say(message.text);
    this.extras.replaceChildren();
    if (isMine(this.role)) return this.delivery("sent");
    this.meta.replaceChildren(make("time", { datetime: message.createdAt }, time(this.at)));
  }

  /* Shows the delivery of the reader's message: sending, waiting, sent, seen, or failed with a reason and a retry button. */
  delivery(state, reason = "", retry = null) {
    const texts = { sending: words.sending, waiting: words.waitingToSend, sent: words.sent, seen: words.seen, failed: words.notSent };
    this.node.dataset.delivery = state;
    this.meta.replaceChildren(...(this.at ? [make("time", {}, time(this.at))] : []),
      make("span", { class: "delivery" }, state === "failed" ? icon("warning") : "", reason ? `${texts[state]}: ${reason}` : texts[state]),
      ...(retry ? [button("", retry, { class: "link" }, icon("retry"), words.retry)] : []));
  }

  /* While the answer is written: running tools, then the text. */
  stream() { this.node.classList.add("streaming"); this.#work(); }
  toolStarted({ callId, label }) { this.#calls.set(callId, { label, done: false }); this.#work(); }
  toolFinished({ callId, success }) {
    const call = this.#calls.get(callId);
    if (call) { call.done = true; call.success = success; this.#work(); }
  }
  #work() {
    const calls = [...this.#calls.values()];
    const rows = calls.map(({ label, done, success }) => make("div", { class: done ? "step done" : "step" },
      done ? icon(success ? "check" : "close") : make("span", { class: "spinner", "aria-hidden": "true" }), make("span", { dir: "auto" }, done ? label.replace(/…/g, "") : label)));
    const idle = calls.every((call) => call.done);
    if (idle && !this.#shown.length) rows.push(make("div", { class: "step" }, dots(), make("span", { class: calls.length ? "unseen" : "" }, words.thinking)));
    this.#steps.hidden = !rows.length;
    this.#steps.replaceChildren(...rows);
  }
  writing(text) {
    const first = !this.#shown.length && text;
    this.say(text);
    if (first) this.#work();
  }

  /* Marks the first message of a day, and the first and last in a row of one author. */
  place(previous, next) {
    const today = this.at && (!previous || !previous.at || new Date(previous.at).toDateString() !== new Date(this.at).toDateString());
    this.#day.textContent = today && new Date(this.at).toDateString() !== new Date().toDateString() ? day(this.at) : "";
    this.node.classList.toggle("first", !previous || previous.role !== this.role || Boolean(this.#day.textContent));
    this.node.classList.toggle("last", !next || next.role !== this.role);
  }
}

export const dots = () => make("span", { class: "dots", "aria-hidden": "true" }, make("i"), make("i"), make("i"));
export const initial = (name) => (name || "").trim().charAt(0).toUpperCase() || "•";
