/* The company's settings: read, changed by merge patch under their version, and tried before they are saved. */
import { call, get, Problem } from "./api.js";
import { make, button } from "./dom.js";
import { inOrder } from "./categories.js";
import { at, field, SECTIONS, written } from "./fields.js";
import { Refresh } from "./refresh.js";
import { TryOut } from "./tryout.js";
import { number, say } from "./i18n.js";

export const settingsView = {
  path: "settings",
  title: "settings",
  glyph: "settings",
  admin: true,
  open: (stage, context) => new SettingsView(stage, context),
};

const MOST_TRIES = 4;
/* What one has changed and not saved, by the address of its settings: it is there again when one comes back to it. */
const unsaved = new Map();
/* Null inside a value is what is not said there; no text is none. */
const bare = (value) => JSON.stringify(value === "" ? null : value, (_, one) => one ?? undefined);
const same = (one, other) => bare(one) === bare(other);

class SettingsView {
  #address; #fields; #settings = null; #tag = ""; #status; #save; #undo; #switch; #stage; #leaving; #answering; #last = Promise.resolve(); #reading = new Refresh(() => this.#load(), (text) => { this.#status.textContent = text; });

  constructor(stage, { session }) {
    this.#stage = stage;
    this.#address = `/v2/llm/config/${session.who.company}`;
    this.#fields = SECTIONS.flatMap(([, fields]) => fields).map((one) => field(one, () => this.#changed(), session.who.company));
    const byPath = new Map(this.#fields.map((one) => [one.path, one]));
    this.#status = make("p", { class: "told", role: "status" }, say("loading"));
    this.#save = make("button", { type: "submit", class: "primary", disabled: true }, say("save"));
    this.#undo = button(say("undo"), () => this.#show(), { disabled: true });
    this.#answering = make("p", { class: "hint" });
    this.#switch = make("section", { class: "kill", "aria-label": say("assistant") });
    const form = make("form", { class: "settings", novalidate: true, onsubmit: (event) => { event.preventDefault(); this.#last = this.#last.then(() => this.#store()); } },
      this.#switch, this.#answering,
      ...SECTIONS.map(([name, fields]) => make("fieldset", { disabled: true }, make("legend", {}, say(`section_${name}`)),
        ...fields.map(([path]) => byPath.get(path).node))),
      make("datalist", { id: "models" }),
      make("div", { class: "bar" }, this.#status, this.#undo, this.#save));
    stage.append(make("div", { class: "page two" }, make("div", {}, make("h1", {}, say("settings")), form),
      new TryOut(this.#address, () => this.#patch()).node));
    this.#leaving = (event) => { if (Object.keys(this.#patch()).length) event.preventDefault(); };
    addEventListener("beforeunload", this.#leaving);
    this.#reading.now();
  }
  end() {
    removeEventListener("beforeunload", this.#leaving);
    this.#reading.end();
    if (this.#settings) unsaved.set(this.#address, new Map(this.#fields.filter((one) => this.#differs(one)).map((one) => [one.path, one.read()])));
  }

  async #load() {
    try {
      if (!this.#settings) this.#begin(await call("GET", this.#address));
    } catch (error) {
      // A company without settings begins: its first steps make them.
      if (error.status !== 404) throw error;
      location.hash = "#/begin";
      return;
    }
    const { providers } = await get("/v2/llm/config/providers");
    const named = providers.map(({ id, label }) => [id, label ?? id]);
    for (const path of ["preferredProvider", "ownModel"]) this.#fields.find((one) => one.path === path).offer(named);
    this.#stage.querySelector("#models").replaceChildren(...providers.flatMap((provider) =>
      provider.models.map((model) => make("option", { value: model.id }, `${provider.label ?? provider.id}${provider.configured ? "" : `, ${say("notConfigured")}`}`))));
  }
  #begin(answer) {
    this.#took(answer);
    this.#show();
    const left = unsaved.get(this.#address);
    for (const one of this.#fields) if (left?.has(one.path)) one.show(left.get(one.path));
    unsaved.delete(this.#address);
    this.#changed();
    for (const one of this.#stage.querySelectorAll("fieldset")) one.disabled = false;
  }
  #took({ body, headers }) {
    this.#settings = body;
    this.#tag = headers.get("etag");
    this.#drawSwitch();
    this.#warn(body.warnings);
    const { provider, model, why } = body.answering ?? {};
    this.#answering.textContent = why ? say(`why_${why}`, { provider, model }) : "";
  }
  /* What is stored and has no effect, beside its field. */
  #warn(warnings = []) {
    for (const one of this.#fields) one.warn(warnings.filter(({ field: name }) => name === one.path).map(({ message }) => message));
  }
  #show(fields = this.#fields) {
    for (const one of fields) { one.show(at(this.#settings, one.path)); one.fault(""); }
    this.#changed();
  }
  #changed() {
    const dirty = Object.keys(this.#patch()).length > 0;
    this.#save.disabled = this.#undo.disabled = !dirty;
    this.#status.textContent = dirty ? say("unsaved") : "";
  }

  #differs(one) {
    const value = one.read();
    return value !== undefined && !same(value, comparable(one.path, at(this.#settings, one.path)));
  }
  /* What differs from what is stored, as a merge patch. */
  #patch() {
    const patch = {};
    if (!this.#settings) return patch;
    for (const one of this.#fields.filter((each) => this.#differs(each))) {
      const names = one.path.split(".");
      const last = names.pop();
      names.reduce((inner, name) => (inner[name] ??= {}), patch)[last] = one.read();
    }
    return patch;
  }

  async #store() {
    for (const one of this.#fields) one.fault(one.bounds());
    if (this.#fields.some((one) => one.bounds())) {
      this.#status.textContent = say("faults");
      this.#stage.querySelector("[aria-invalid]").focus();
      return;
    }
    const sent = new Map(this.#fields.map((one) => [one, one.read()]));
    try {
      this.#took(await call("PATCH", this.#address, { body: this.#patch(), headers: { "If-Match": this.#tag } }));
      // What has been written since the click is not saved, and not lost.
      this.#show(this.#fields.filter((one) => same(one.read(), sent.get(one))));
      if (this.#save.disabled) this.#status.textContent = say("saved");
    } catch (error) {
      if (error.status === 412) await this.#conflict();
      else this.#refused(error);
    }
  }
  #refused(error) {
    for (const { field: name, message } of error.fields) {
      // A fault inside a list is told at the list.
      const owner = this.#fields.find((one) => name === one.path || name.startsWith(`${one.path}.`));
      if (owner) owner.fault(message);
    }
    this.#status.textContent = error.fields.length ? say("faults") : error.message;
    // Whoever is elsewhere by now stays there.
    if ([this.#save, document.body].includes(document.activeElement)) this.#stage.querySelector("[aria-invalid]")?.focus();
  }
  /* Somebody else has saved: theirs is shown where one has not written oneself; what both changed is named. */
  async #conflict() {
    const mine = new Map(this.#fields.map((one) => [one.path, one.read()]));
    const before = this.#settings;
    try { this.#took(await call("GET", this.#address)); } catch (error) { return this.#refused(error instanceof Problem ? error : new Problem(0, {})); }
    const both = [];
    for (const one of this.#fields) {
      const was = comparable(one.path, at(before, one.path)), now = comparable(one.path, at(this.#settings, one.path));
      const wrote = !same(mine.get(one.path), was);
      if (!wrote) one.show(at(this.#settings, one.path));
      else if (!same(was, now)) {
        one.fault(say("theirs", { value: shown(one.path, now) }));
        both.push(one.path);
      }
    }
    this.#changed();
    this.#status.textContent = say(both.length ? "conflict" : "merged");
  }

  /* ---------------------------------------------------------------- the kill switch */
  #drawSwitch() {
    const on = this.#settings.aiAutoResponseEnabled;
    this.#switch.dataset.on = String(on);
    this.#switch.replaceChildren(
      make("div", {}, make("b", {}, say(on ? "assistantOn" : "assistantOff")), make("p", { class: "hint" }, say(on ? "assistantOnHint" : "assistantOffHint"))),
      button(say(on ? "switchOff" : "switchOn"), () => this.#ask(on), { class: on ? "danger" : "primary" }));
  }
  #ask(on) {
    if (!on) { this.#flip(true); return; }
    const dialog = make("dialog", { "aria-labelledby": "kill-title", onclose: () => dialog.remove() },
      make("h2", { id: "kill-title" }, say("switchOffTitle")), make("p", {}, say("switchOffText")),
      make("p", { class: "row end" }, button(say("cancel"), () => dialog.close()),
        button(say("switchOff"), () => { dialog.close(); this.#flip(false); }, { class: "danger" })));
    document.body.append(dialog);
    dialog.showModal();
  }
  /* At once, whoever else has saved meanwhile; what is written in the fields is neither saved with it nor lost. */
  async #flip(on) {
    let tag = this.#tag, answer = null;
    try {
      for (let tries = 1; !answer; tries += 1) {
        try {
          answer = await call("PATCH", this.#address, { body: { aiAutoResponseEnabled: on }, headers: { "If-Match": tag } });
        } catch (error) {
          if (error.status !== 412 || tries === MOST_TRIES) throw error;
          tag = (await call("GET", this.#address)).headers.get("etag");
        }
      }
    } catch (error) { this.#refused(error); return; }
    // What somebody else has changed is met with the next save, under the version that is shown here.
    if (tag === this.#tag) this.#tag = answer.headers.get("etag");
    this.#settings = { ...this.#settings, aiAutoResponseEnabled: on };
    this.#warn(answer.body.warnings);
    const there = document.activeElement === document.body || this.#switch.contains(document.activeElement);
    this.#drawSwitch();
    if (there) this.#switch.querySelector("button").focus();
    if (this.#save.disabled) this.#status.textContent = say("saved");
  }
}

/* A setting as a person would say it. */
function shown(path, value) {
  if (value === null || value === "" || value.length === 0) return say("valueNone");
  if (path === "budget.whenSpent") return say(`spent_${value}`);
  if (path === "ownerIdleAction") return say(`idle_${value}`);
  if (path === "officeHours") return value.hours.map(({ days, opens, closes }) => `${days.join(" ")} ${opens}–${closes}`).join(", ");
  if (path === "personRules") return value.map(({ to, words, topics, plans, pages }) => `${say(`rule_${to}`)}: ${[...words, ...topics, ...plans, ...pages].join(", ")}`).join("; ");
  if (path === "ownModel") return value.model;
  if (path === "ownTools") return [...value.http, ...value.mcp].map(({ name }) => name).join(", ");
  if (path === "profile") return say(`profile_${value}`);
  if (typeof value === "boolean") return say(value ? "valueOn" : "valueOff");
  if (typeof value === "number") return number.format(value);
  if (!Array.isArray(value) && typeof value === "object") return Object.entries(value).map(([name, on]) => `${say(`category_${name}`)}: ${shown("", on)}`).join(", ");
  return Array.isArray(value) ? value.map((one) => one.url ?? one.address ?? one.text ?? one).join(", ") : value;
}

/* What the server shows beside what one writes is no change. */
const WRITTEN = {
  "toolConfig.categories.visitors": inOrder, "toolConfig.categories.customers": inOrder,
  webhooks: (value) => (value ?? []).map(written),
};
const comparable = (path, value) => (value === undefined ? null : WRITTEN[path] ? WRITTEN[path](value) : value);
