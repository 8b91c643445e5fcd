/* The company's settings: read, changed by a merge patch with their version, and tried before they are saved. */
import { call, get, Problem } from "./api.js";
import { make, button } from "./dom.js";
import { inOrder } from "./categories.js";
import { valueAt, field, SECTIONS, written } from "./fields.js";
import { ask } from "./question.js";
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

const MAX_TRIES = 4;
/* Unsaved changes, by the address of the settings: they are there again when the admin comes back. */
const unsaved = new Map();
/* Compared as JSON: a null inside a value counts as missing, and an empty text as null. */
const bare = (value) => JSON.stringify(value === "" ? null : value, (_, part) => part ?? undefined);
const isSame = (value, other) => bare(value) === bare(other);

class SettingsView {
  #address; #fields; #settings = null; #tag = ""; #status; #save; #undo; #switch; #stage; #leaving; #answering; #last = Promise.resolve(); #reading = new Refresh(() => this.#load(), (text) => { this.#status.textContent = text; });

  constructor(stage, { session }) {
    this.#stage = stage;
    this.#address = `/v2/llm/config/${session.who.company}`;
    this.#fields = SECTIONS.flatMap(([, fields]) => fields).map((definition) => field(definition, () => this.#changed(), session.who.company));
    const byPath = new Map(this.#fields.map((setting) => [setting.path, setting]));
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
    if (this.#settings) unsaved.set(this.#address, new Map(this.#fields.filter((setting) => this.#differs(setting)).map((setting) => [setting.path, setting.read()])));
  }

  async #load() {
    try {
      if (!this.#settings) this.#begin(await call("GET", this.#address));
    } catch (error) {
      // A company without settings starts with the first steps.
      if (error.status !== 404) throw error;
      location.hash = "#/begin";
      return;
    }
    const { providers } = await get("/v2/llm/config/providers");
    const named = providers.map(({ id, label }) => [id, label ?? id]);
    for (const path of ["preferredProvider", "ownModel"]) this.#fields.find((setting) => setting.path === path).offer(named);
    this.#stage.querySelector("#models").replaceChildren(...providers.flatMap((provider) =>
      provider.models.map((model) => make("option", { value: model.id }, `${provider.label ?? provider.id}${provider.configured ? "" : `, ${say("notConfigured")}`}`))));
  }
  #begin(answer) {
    this.#took(answer);
    this.#show();
    const values = unsaved.get(this.#address);
    for (const setting of this.#fields) if (values?.has(setting.path)) setting.show(values.get(setting.path));
    unsaved.delete(this.#address);
    this.#changed();
    for (const setting of this.#stage.querySelectorAll("fieldset")) setting.disabled = false;
  }
  #took({ body, headers }) {
    this.#settings = body;
    this.#tag = headers.get("etag");
    this.#drawSwitch();
    this.#warn(body.warnings);
    const { provider, model, why: reason } = body.answering ?? {};
    this.#answering.textContent = reason ? say(`why_${reason}`, { provider, model }) : "";
  }
  /* Shows beside a field that its stored value has no effect. */
  #warn(warnings = []) {
    for (const setting of this.#fields) setting.warn(warnings.filter(({ field: name }) => name === setting.path).map(({ message }) => message));
  }
  #show(fields = this.#fields) {
    for (const setting of fields) { setting.show(valueAt(this.#settings, setting.path)); setting.fault(""); }
    this.#changed();
  }
  #changed() {
    const dirty = Object.keys(this.#patch()).length > 0;
    this.#save.disabled = this.#undo.disabled = !dirty;
    this.#status.textContent = dirty ? say("unsaved") : "";
  }

  #differs(setting) {
    const value = setting.read();
    return value !== undefined && !isSame(value, comparable(setting.path, valueAt(this.#settings, setting.path)));
  }
  /* The changed settings, as a merge patch. */
  #patch() {
    const patch = {};
    if (!this.#settings) return patch;
    for (const setting of this.#fields.filter((each) => this.#differs(each))) {
      const names = setting.path.split(".");
      const last = names.pop();
      names.reduce((inner, name) => (inner[name] ??= {}), patch)[last] = setting.read();
    }
    return patch;
  }

  async #store() {
    for (const setting of this.#fields) setting.fault(setting.bounds());
    if (this.#fields.some((setting) => setting.bounds())) {
      this.#status.textContent = say("faults");
      this.#stage.querySelector("[aria-invalid]").focus();
      return;
    }
    const values = new Map(this.#fields.map((setting) => [setting, setting.read()]));
    try {
      this.#took(await call("PATCH", this.#address, { body: this.#patch(), headers: { "If-Match": this.#tag } }));
      // Text written since the click is not saved, and not lost.
      this.#show(this.#fields.filter((setting) => isSame(setting.read(), values.get(setting))));
      if (this.#save.disabled) this.#status.textContent = say("saved");
    } catch (error) {
      if (error.status === 412) await this.#conflict();
      else this.#refused(error);
    }
  }
  #refused(error) {
    for (const { field: name, message } of error.fields) {
      // A fault inside a list is shown at the list.
      const owner = this.#fields.find((setting) => name === setting.path || name.startsWith(`${setting.path}.`));
      if (owner) owner.fault(message);
    }
    this.#status.textContent = error.fields.length ? say("faults") : error.message;
    // The focus stays where it is if the admin is elsewhere.
    if ([this.#save, document.body].includes(document.activeElement)) this.#stage.querySelector("[aria-invalid]")?.focus();
  }
  /* Another admin has saved: their values are shown in fields not edited here, and those that both changed are named. */
  async #conflict() {
    const edited = new Map(this.#fields.map((setting) => [setting.path, setting.read()]));
    const previous = this.#settings;
    try { this.#took(await call("GET", this.#address)); } catch (error) { return this.#refused(error instanceof Problem ? error : new Problem(0, {})); }
    const conflicts = [];
    for (const setting of this.#fields) {
      const was = comparable(setting.path, valueAt(previous, setting.path)), current = comparable(setting.path, valueAt(this.#settings, setting.path));
      const wrote = !isSame(edited.get(setting.path), was);
      if (!wrote) setting.show(valueAt(this.#settings, setting.path));
      else if (!isSame(was, current)) {
        setting.fault(say("theirs", { value: inWords(setting.path, current) }));
        conflicts.push(setting.path);
      }
    }
    this.#changed();
    this.#status.textContent = say(conflicts.length ? "conflict" : "merged");
  }

  /* ---------------------------------------------------------------- the kill switch */
  #drawSwitch() {
    const isOn = this.#settings.aiAutoResponseEnabled;
    this.#switch.dataset.on = String(isOn);
    this.#switch.replaceChildren(
      make("div", {}, make("b", {}, say(isOn ? "assistantOn" : "assistantOff")), make("p", { class: "hint" }, say(isOn ? "assistantOnHint" : "assistantOffHint"))),
      button(say(isOn ? "switchOff" : "switchOn"), () => this.#ask(isOn), { class: isOn ? "danger" : "primary" }));
  }
  async #ask(isOn) {
    if (!isOn || await ask(say("switchOffTitle"), say("switchOffText"), say("switchOff"), "danger")) this.#flip(!isOn);
  }
  /* Switches at once, whoever else has saved meanwhile; edited fields are neither saved nor lost. */
  async #flip(isOn) {
    let tag = this.#tag, answer = null;
    try {
      for (let tries = 1; !answer; tries += 1) {
        try {
          answer = await call("PATCH", this.#address, { body: { aiAutoResponseEnabled: isOn }, headers: { "If-Match": tag } });
        } catch (error) {
          if (error.status !== 412 || tries === MAX_TRIES) throw error;
          tag = (await call("GET", this.#address)).headers.get("etag");
        }
      }
    } catch (error) { this.#refused(error); return; }
    // Another admin's change is met with the next save, under the version shown here.
    if (tag === this.#tag) this.#tag = answer.headers.get("etag");
    this.#settings = { ...this.#settings, aiAutoResponseEnabled: isOn };
    this.#warn(answer.body.warnings);
    this.#drawSwitch();
    if (this.#save.disabled) this.#status.textContent = say("saved");
  }
}

/* The value of a setting in words. */
function inWords(path, value) {
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
  if (!Array.isArray(value) && typeof value === "object") return Object.entries(value).map(([name, isOn]) => `${say(`category_${name}`)}: ${inWords("", isOn)}`).join(", ");
  return Array.isArray(value) ? value.map((item) => item.url ?? item.address ?? item.text ?? item).join(", ") : value;
}

/* Values that the server adds are not changes. */
const WRITTEN = {
  "toolConfig.categories.visitors": inOrder, "toolConfig.categories.customers": inOrder,
  webhooks: (value) => (value ?? []).map(written),
};
const comparable = (path, value) => (value === undefined ? null : WRITTEN[path] ? WRITTEN[path](value) : value);
