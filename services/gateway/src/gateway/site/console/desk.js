/* What an agent does with a conversation besides writing: state, assignee, labels and topic. */
import { call } from "./api.js";
import { colleagues } from "./colleagues.js";
import { make, button } from "./dom.js";
import { nameOf } from "./inbox.js";
import { merge, separate } from "./people.js";
import { exactly, say } from "./i18n.js";

const HOUR = 3_600_000;

export class Desk {
  node; person; #id; #agent; #newestSeq; #whenSent; #onChange; #onFault; #view = null; #last = Promise.resolve(); #unsaved = {};

  /* agent: who is signed in; newestSeq(): the newest seq of the thread; whenSent(): whether the agent's messages are stored;
     onChange(view): a change was made; onFault(text): a change failed, "": it has been made since. */
  constructor(id, agent, { newestSeq, whenSent, onChange, onFault }) {
    this.#id = id;
    this.#agent = agent;
    this.#newestSeq = newestSeq;
    this.#whenSent = whenSent;
    this.#onChange = onChange;
    this.#onFault = onFault;
    // What has changed while a field had the focus is drawn when the focus has left.
    this.node = make("section", {
      class: "desk", "aria-label": say("desk"), tabindex: "-1",
      onfocusout: () => setTimeout(() => { if (this.#view && !this.node.contains(document.activeElement)) this.show(this.#view); }),
    });
    this.person = make("p");
  }
  /* Key e: resolve, or open again. */
  turn() { if (this.#view) this.#change({ state: this.#view.status === "open" ? "resolved" : "open" }); }
  /* Focuses one of the fields. A list is opened, since an arrow key on a closed one would choose at once. */
  focus(name) {
    const field = this.node.querySelector(`[data-what="${name}"]`);
    field?.focus();
    if (field?.matches("select")) field.showPicker?.();
  }
  show(view) {
    const signature = JSON.stringify([view.status, view.snoozedUntil, view.assignee, view.assigneeName, view.labels, view.topic, view.visitor?.id, view.visitor?.was]);
    if (signature === this.node.dataset.told || this.node.contains(document.activeElement) && /^(input|select)$/i.test(document.activeElement.tagName)) {
      this.#view = view;
      return;
    }
    this.#view = view;
    this.node.dataset.told = signature;
    this.node.replaceChildren(this.#state(view), this.#owner(view), this.#labels(view), this.#topic(view));
    this.person.replaceChildren(this.#customer(view));
  }

  #state(view) {
    if (view.status !== "open") {
      return make("span", { class: "row" },
        make("span", {}, view.snoozedUntil ? say("snoozedUntil", { when: exactly(view.snoozedUntil) }) : say(`is_${view.status}`)),
        button(say("openAgain"), () => this.#change({ state: "open" }), { class: "small", "data-what": "state" }));
    }
    const later = make("select", { "aria-label": say("snooze"), "data-what": "snooze", onchange: () => this.#snooze(later.value) },
      make("option", { value: "" }, say("snooze")),
      ...["hour", "tomorrow", "monday", "message"].map((choice) => make("option", { value: choice }, say(`snooze_${choice}`))));
    return make("span", { class: "row" },
      button(say("resolve"), () => this.#change({ state: "resolved" }), { class: "small", "data-what": "state" }), later);
  }
  #owner(view) {
    const userId = this.#agent.subject, { assignee } = view;
    const option = (value, label) => make("option", { value, selected: value === (assignee || "") }, label);
    const field = make("select", { "aria-label": say("assignee"), "data-what": "assignee", onchange: () => this.#assign(field) },
      option("", say("nobodys")), option(userId, say("you")), assignee && assignee !== userId && option(assignee, view.assigneeName || assignee));
    // The other colleagues are loaded when the list is opened.
    field.addEventListener("focus", () => this.#colleagues(field, option), { once: true });
    return make("span", { class: "row" }, make("span", { class: "hint", "aria-hidden": "true" }, say("assignee")), field);
  }
  async #colleagues(field, option) {
    const values = new Set([...field.options].map((option) => option.value));
    field.append(...(await colleagues()).filter((colleague) => !values.has(colleague.userId)).map((choice) => option(choice.userId, choice.name || choice.userId)));
  }
  /* The assignee that is shown is sent along: if a colleague was faster, the agent is told who has it. */
  #assign({ value, selectedOptions: [{ label }] }) {
    this.#change({ assignee: value || null, ...(value && value !== this.#agent.subject && { assigneeName: label }), expectedAssignee: this.#view.assignee || null });
  }
  #labels(view) {
    const field = make("input", {
      "aria-label": say("addLabel"), placeholder: say("addLabel"), "data-what": "label", maxlength: "40", size: "14",
      value: this.#unsaved.label ?? "",
      onchange: () => { const label = field.value.trim(); field.value = ""; if (label) this.#change({ addLabels: [label] }, { label }); },
    });
    return make("span", { class: "row" }, ...(view.labels || []).map((label) => make("span", { class: "chip" }, make("span", {}, label),
      button("×", () => this.#change({ removeLabels: [label] }), { class: "quiet small", "aria-label": say("dropLabel", { label }) }))), field);
  }
  #topic(view) {
    return make("input", {
      "aria-label": say("topic"), placeholder: say("topic"), value: this.#unsaved.topic ?? view.topic ?? "", "data-what": "topic", maxlength: "200", size: "18",
      onchange: ({ target }) => this.#change({ topic: target.value.trim() || null }, { topic: target.value }),
    });
  }
  /* Shows or changes who the visitor is: their conversations then belong to one person. */
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
    const time = new Date();
    if (until === "hour") time.setTime(time.getTime() + HOUR);
    else {
      time.setDate(time.getDate() + (until === "monday" ? (8 - time.getDay()) % 7 || 7 : 1));
      time.setHours(9, 0, 0, 0);
    }
    this.#change({ state: "snoozed", ...(until !== "message" && { snoozedUntil: time.toISOString() }) });
  }
  /* Makes the changes one after another, in the order in which they were made. `typed`: a field's text by its name, which
     stays in the field until it is saved. */
  #change(body, typed = {}) {
    const from = document.activeElement, text = from?.value;
    this.#last = this.#last.then(async () => {
      try {
        if (body.state) {
          if (!(await this.#whenSent())) throw new Error(say("notSent"));
          body.seenSeq = this.#newestSeq();
        }
        const view = (await call("PATCH", `/v2/conversations/${encodeURIComponent(this.#id)}`, { body })).body;
        this.#view = view;
        for (const name of Object.keys(typed)) delete this.#unsaved[name];
        if (!Object.keys(this.#unsaved).length) this.#onFault("");
        this.node.dataset.told = "";
        // The field is left so that the change is drawn, unless the next text has been begun in it meanwhile.
        if (from === document.activeElement && this.node.contains(from) && from.matches("input, select") && from.value === text) this.node.focus();
        this.#onChange(view);
      } catch (error) {
        for (const [name, text] of Object.entries(typed)) if (text) this.node.querySelector(`[data-what="${name}"]`).value = this.#unsaved[name] = text;
        this.#onFault(error.message);
      }
    });
  }
}

/* Returns the text of a change for the thread, or null if people need not read it. */
export function changeInWords(change) {
  const actor = change.name || change.by;
  if (change.state === "resolved") return change.by === "memory" ? say(`resolved_${change.reason || "silence"}`) : say("event_resolved", { name: actor });
  if (change.state === "snoozed") return change.snoozedUntil ? say("event_snoozed", { name: actor, when: exactly(change.snoozedUntil) }) : say("event_snoozedOpen", { name: actor });
  if (change.state === "open") return change.by === "memory" ? say("event_woke") : say("event_opened", { name: actor });
  if (change.assignee != null) {
    const to = change.assigneeName || change.assignee;
    if (change.by === "memory") return change.reason === "left" ? say("event_assigneeLeft") : say("event_turn", { to });
    return change.assignee ? say("event_assigned", { name: actor, to }) : say("event_unassigned", { name: actor });
  }
  if (change.labels) return change.labels.length ? say("event_labels", { name: actor, labels: change.labels.join(", ") }) : say("event_noLabels", { name: actor });
  if (change.person && change.person === change.by) return say("event_signedIn", { name: actor });
  const to = change.person && nameOf({ visitor: { id: change.person } });
  if (to && change.by === "memory") return say("event_samePerson", { to });
  if (change.person != null) return to ? say("event_person", { name: actor, to }) : say("event_noPerson", { name: actor });
  return change.topic ? say("event_topic", { name: actor, topic: change.topic }) : null;
}
