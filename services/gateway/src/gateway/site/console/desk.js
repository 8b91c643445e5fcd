/* What is done with a conversation beside writing in it: its state, whose it is, its labels and topic. */
import { call } from "./api.js";
import { colleagues } from "./colleagues.js";
import { make, button } from "./dom.js";
import { nameOf } from "./inbox.js";
import { merge, separate } from "./people.js";
import { exactly, moment, say } from "./i18n.js";

const HOUR = 3_600_000;

export class Desk {
  node; person; #id; #mine; #seen; #sent; #onChange; #onFault; #view = null; #last = Promise.resolve();

  /* mine: who one is; seen(): the newest of the thread; sent(): whether one's own words are stored; onChange(view): it was changed; onFault(text): it was not. */
  constructor(id, mine, { seen, sent, onChange, onFault }) {
    this.#id = id;
    this.#mine = mine;
    this.#seen = seen;
    this.#sent = sent;
    this.#onChange = onChange;
    this.#onFault = onFault;
    this.node = make("section", { class: "desk", "aria-label": say("desk") });
    this.person = make("p");
  }
  /* e: resolve, or open again. */
  turn() { if (this.#view) this.#change({ state: this.#view.status === "open" ? "resolved" : "open" }); }
  /* One of its fields; a list is opened, since an arrow on a closed one would choose at once. */
  focus(what) {
    const field = this.node.querySelector(`[data-what="${what}"]`);
    field?.focus();
    if (field?.matches("select")) field.showPicker?.();
  }
  show(view) {
    const told = JSON.stringify([view.status, view.snoozedUntil, view.assignee, view.assigneeName, view.labels, view.topic, view.visitor?.id, view.visitor?.was]);
    if (told === this.node.dataset.told || this.node.contains(document.activeElement) && /^(input|select)$/i.test(document.activeElement.tagName)) {
      this.#view = view;
      return;
    }
    const focused = this.node.contains(document.activeElement) && document.activeElement.dataset.what;
    this.#view = view;
    this.node.dataset.told = told;
    this.node.replaceChildren(this.#state(view), this.#owner(view), this.#labels(view), this.#topic(view));
    this.person.replaceChildren(this.#customer(view));
    if (focused) this.node.querySelector(`[data-what="${focused}"]`)?.focus();
  }

  #state(view) {
    if (view.status !== "open") {
      return make("span", { class: "row" },
        make("span", {}, view.snoozedUntil ? say("snoozedUntil", { when: exactly(view.snoozedUntil) }) : say(`is_${view.status}`)),
        button(say("openAgain"), () => this.#change({ state: "open" }), { class: "small", "data-what": "state" }));
    }
    const later = make("select", { "aria-label": say("snooze"), "data-what": "snooze", onchange: () => this.#snooze(later.value) },
      make("option", { value: "" }, say("snooze")),
      ...["hour", "tomorrow", "monday", "message"].map((one) => make("option", { value: one }, say(`snooze_${one}`))));
    return make("span", { class: "row" },
      button(say("resolve"), () => this.#change({ state: "resolved" }), { class: "small", "data-what": "state" }), later);
  }
  #owner(view) {
    const mine = this.#mine.subject, { assignee } = view;
    const option = (value, label) => make("option", { value, selected: value === (assignee || "") }, label);
    const field = make("select", { "aria-label": say("assignee"), "data-what": "assignee", onchange: () => this.#assign(field) },
      option("", say("nobodys")), option(mine, say("you")), assignee && assignee !== mine && option(assignee, view.assigneeName || assignee));
    // The others are there as soon as one goes to choose.
    field.addEventListener("focus", () => this.#colleagues(field, option), { once: true });
    return make("span", { class: "row" }, make("span", { class: "hint", "aria-hidden": "true" }, say("assignee")), field);
  }
  async #colleagues(field, option) {
    const there = new Set([...field.options].map((one) => one.value));
    field.append(...(await colleagues()).filter((one) => !there.has(one.userId)).map((one) => option(one.userId, one.name || one.userId)));
  }
  /* What one sees is sent along: whoever is a moment too late is told whose it is, and asked nothing twice. */
  #assign({ value, selectedOptions: [{ label }] }) {
    this.#change({ assignee: value || null, ...(value && value !== this.#mine.subject && { assigneeName: label }), expectedAssignee: this.#view.assignee || null });
  }
  #labels(view) {
    const field = make("input", {
      "aria-label": say("addLabel"), placeholder: say("addLabel"), "data-what": "label", maxlength: "40", size: "14",
      onchange: () => { const label = field.value.trim(); field.value = ""; if (label) this.#label((labels) => [...labels, label], () => { field.value = label; }); },
    });
    return make("span", { class: "row" }, ...(view.labels || []).map((label) => make("span", { class: "chip" }, make("span", {}, label),
      button("×", () => this.#label((labels) => labels.filter((one) => one !== label)), { class: "quiet small", "aria-label": say("dropLabel", { label }) }))), field);
  }
  /* Of the labels that there are when it is its turn: two that are given one after the other are both there. */
  #label(change, undone) { return this.#change(() => ({ labels: [...new Set(change(this.#view.labels || []))] }), undone); }
  #topic(view) {
    return make("input", {
      "aria-label": say("topic"), placeholder: say("topic"), value: view.topic || "", "data-what": "topic", maxlength: "200", size: "18",
      onchange: ({ target }) => this.#change({ topic: target.value.trim() || null }),
    });
  }
  /* Whom the visitor has turned out to be: their conversations are then one person's. */
  #customer({ visitor }) {
    if (!visitor || visitor.plan || visitor.id === "-") return "";
    const act = visitor.was ? separate : merge;
    return button(say(visitor.was ? "separate" : "mergeWith"), () => this.#person(act), { class: "small" });
  }
  async #person(act) {
    try {
      if (await act(this.#view)) this.#onChange((await call("GET", `/v2/conversations/${encodeURIComponent(this.#id)}`)).body);
    } catch (error) { this.#onFault(error.message); }
  }
  #snooze(until) {
    if (!until) return;
    const at = new Date();
    if (until === "hour") at.setTime(at.getTime() + HOUR);
    else {
      at.setDate(at.getDate() + (until === "monday" ? (8 - at.getDay()) % 7 || 7 : 1));
      at.setHours(9, 0, 0, 0);
    }
    this.#change({ state: "snoozed", ...(until !== "message" && { snoozedUntil: at.toISOString() }) });
  }
  /* One after the other: none is lost because another one is on its way. `change`: what to send, or a function that says it
     then; undone(): it was not done. */
  #change(change, undone = () => {}) {
    const from = document.activeElement;
    this.#last = this.#last.then(async () => {
      const body = typeof change === "function" ? change() : change;
      try {
        if (body.state) {
          if (!(await this.#sent())) throw new Error(say("notSent"));
          body.seenSeq = this.#seen();
        }
        const view = (await call("PATCH", `/v2/conversations/${encodeURIComponent(this.#id)}`, { body })).body;
        this.#view = view;
        this.node.dataset.told = "";
        if (from === document.activeElement && this.node.contains(from) && from.matches("input, select")) from.blur();
        this.#onChange(view);
      } catch (error) {
        undone();
        this.#onFault(error.message);
      }
    });
  }
}

/* A change in words, for the thread; null: nothing that people have to read. */
export function changeInWords(change) {
  const who = change.name || change.by;
  if (change.state === "resolved") return change.by === "memory" ? say(`resolved_${change.reason || "silence"}`) : say("event_resolved", { name: who });
  if (change.state === "snoozed") return change.snoozedUntil ? say("event_snoozed", { name: who, when: moment(change.snoozedUntil) }) : say("event_snoozedOpen", { name: who });
  if (change.state === "open") return change.by === "memory" ? say("event_woke") : say("event_opened", { name: who });
  if (change.assignee != null) {
    const to = change.assigneeName || change.assignee;
    if (change.by === "memory") return say("event_turn", { to });
    return change.assignee ? say("event_assigned", { name: who, to }) : say("event_unassigned", { name: who });
  }
  if (change.labels) return change.labels.length ? say("event_labels", { name: who, labels: change.labels.join(", ") }) : say("event_noLabels", { name: who });
  if (change.person && change.person === change.by) return say("event_signedIn", { name: who });
  const to = change.person && nameOf({ visitor: { id: change.person } });
  if (to && change.by === "memory") return say("event_samePerson", { to });
  if (change.person != null) return to ? say("event_person", { name: who, to }) : say("event_noPerson", { name: who });
  return change.topic ? say("event_topic", { name: who, topic: change.topic }) : null;
}
