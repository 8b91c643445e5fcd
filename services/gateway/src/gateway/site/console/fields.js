/* The settings of a company, field by field: how each is shown, read back, and bounded (visitor-chat settings). */
import { make, button } from "./dom.js";
import { officeHours } from "./office-hours.js";
import { ownModel } from "./own-model.js";
import { ownTools } from "./own-tools.js";
import { personRules } from "./person-rules.js";
import { number, say } from "./words-of.js";

const lines = (text) => text.split("\n").map((one) => one.trim()).filter(Boolean);

/* name: path in the settings; kind: how it is shown. A field's words are setting_<name> and, where there is one, setting_<name>_hint. */
const SPOKEN = ["es", "en"];
const spoken = (name, kind, options) => SPOKEN.map((tongue) => [`assistant.${name}.${tongue}`, kind, { empty: null, ...options }]);
export const SECTIONS = [
  ["company", [
    ["name", "text", { empty: null, maxlength: 80 }], ["profile", "choice", { choices: ["support", "trading"], words: "profile_" }],
    ["languages", "lines"], ["timeZone", "text", { empty: null, maxlength: 64 }],
    ["assistant.name", "text", { empty: null, maxlength: 60 }], ["assistant.tone", "text", { empty: null, maxlength: 300 }],
    ...spoken("greeting", "text", { maxlength: 300 }), ...spoken("suggestions", "lines", {}),
  ]],
  ["answers", [
    ["aiSuggestionsEnabled", "switch"], ["aiRespondWithCommercial", "switch"], ["responseDelayMs", "number", { min: 0, max: 60000 }],
    ["handoffTimeoutSeconds", "number", { min: 10, max: 3600 }], ["ownerIdleMinutes", "number", { min: 1, max: 1440 }],
    ["resolveAfterHours", "number", { min: 0, max: 720 }],
    ["ownerIdleAction", "choice", { choices: ["needs_person", "ai"], words: "idle_" }],
    ["askRating", "switch"], ["officeHours", "hours"], ["personRules", "rules"],
  ]],
  ["model", [
    ["ownModel", "ownModel"],
    ["preferredProvider", "choice"], ["preferredModel", "text", { list: "models", maxlength: 200 }],
    ["temperature", "number", { min: 0, max: 2, step: 0.1 }], ["maxResponseTokens", "number", { min: 1, max: 8192 }],
    ["customSystemPrompt", "long", { maxlength: 8000, rows: 8, empty: null }], ["includeVisitorInfo", "switch"],
  ]],
  ["tools", [
    ["toolConfig.fetchPageEnabled", "switch"], ["toolConfig.allowedDomains", "lines"], ["toolConfig.allowedPaths", "lines"],
    ["toolConfig.enabledTools", "lines"], ["toolConfig.maxIterations", "number", { min: 1, max: 10 }],
    ["toolConfig.cacheEnabled", "switch"], ["toolConfig.cacheTtlSeconds", "number", { min: 0, max: 86400 }],
    ["ownTools", "ownTools"],
  ]],
  ["money", [
    ["budget.dailyTokens", "number", { min: 0, empty: null }], ["budget.visitorHourlyTokens", "number", { min: 0, empty: null }],
    ["budget.whenSpent", "choice", { choices: ["handoff", "cheaper_model", "text"], words: "spent_" }],
    ["budget.cheaperModel", "text", { list: "models", empty: null, maxlength: 200 }], ["budget.fallbackText", "long", { maxlength: 2000, rows: 3, empty: null }],
  ]],
  ["site", [["allowedOrigins", "lines"], ["brandColor", "color", { empty: null }]]],
  ["knowledge", [
    ["knowledge.siteUrl", "text", { empty: null, maxlength: 2048 }], ["knowledge.allowedPaths", "lines"], ["knowledge.deniedPaths", "lines"],
    ["knowledge.maxPages", "number", { min: 1, max: 20000 }], ["knowledge.refreshHours", "number", { min: 1, max: 720 }],
  ]],
  ["keeping", ["conversationDays", "traceDays"].map((name) => [`retention.${name}`, "number", { min: 1, max: 3650, empty: null }])],
  ["channels", [["channels", "channels"]]],
  ["webhooks", [["webhooks", "webhooks"]]],
];

export const at = (settings, path) => path.split(".").reduce((value, name) => value?.[name], settings);

/* {path, node, read(), show(value), fault(text), warn(texts), bounds(), offer(choices)}; read() gives the value as the settings have it,
   bounds() tells what a number must be where it is not; a choice can be offered [value, label] that were not known before. */
export function field([path, kind, options = {}], changed, company) {
  const id = `setting-${path.replaceAll(".", "-")}`;
  const fault = make("p", { class: "fault", id: `${id}-fault`, role: "alert" });
  const warned = make("p", { class: "warned", id: `${id}-warned` });
  const hintName = `setting_${path}_hint`;
  const tell = (text) => {
    fault.textContent = text;
    for (const one of control.inputs) one.toggleAttribute("aria-invalid", Boolean(text));
  };
  const control = CONTROLS[kind]({ id, company, changed: () => { tell(""); changed(); }, ...options });
  for (const one of control.inputs) one.setAttribute("aria-describedby", `${id}-hint ${id}-warned ${id}-fault`);
  const words = [
    control.group ? make("span", { class: "name", id: `${id}-name` }, say(`setting_${path}`)) : make("label", { for: id, class: "name" }, say(`setting_${path}`)),
    make("p", { class: "hint", id: `${id}-hint` }, HINTS.has(path) ? say(hintName) : ""),
  ];
  const node = make("div", {
    class: "field", "data-kind": kind, ...(control.group && { role: "group", "aria-labelledby": `${id}-name` }),
  }, make("div", { class: "words" }, ...words), make("div", { class: "control" }, control.node, warned, fault));
  return {
    path, node, read: control.read, show: control.show, offer: control.offer, fault: tell,
    warn(texts) { warned.replaceChildren(...texts.map((text) => make("span", {}, text))); },
    bounds() {
      const { min, max } = options, value = control.read();
      if (kind !== "number" || typeof value !== "number" || (value >= min && value <= (max ?? Infinity))) return "";
      return max === undefined ? say("atLeast", { min }) : say("between", { min, max: number.format(max) });
    },
  };
}

const HINTS = new Set([
  "aiRespondWithCommercial", "responseDelayMs", "handoffTimeoutSeconds", "ownerIdleMinutes", "officeHours", "personRules", "preferredProvider", "temperature", "customSystemPrompt",
  "toolConfig.allowedDomains", "toolConfig.allowedPaths", "toolConfig.enabledTools", "toolConfig.maxIterations", "budget.dailyTokens",
  "profile", "languages", "timeZone", "ownModel", "ownTools", "assistant.tone",
  "budget.visitorHourlyTokens", "allowedOrigins", "channels", "webhooks", "knowledge.siteUrl", "knowledge.allowedPaths",
  "retention.conversationDays", "retention.traceDays",
]);

const plain = (input, read, show) => ({ node: input, inputs: [input], read, show });
const CONTROLS = {
  switch({ id, changed }) {
    const input = make("input", { type: "checkbox", role: "switch", id, onchange: changed });
    return plain(input, () => input.checked, (value) => { input.checked = value; });
  },
  number({ id, changed, min, max, step = 1, empty }) {
    const input = make("input", { type: "number", id, min, max, step, oninput: changed, inputmode: "decimal" });
    return plain(input, () => (input.value === "" ? empty : Number(input.value)), (value) => { input.value = value ?? ""; });
  },
  text({ id, changed, list, maxlength, empty }) {
    const input = make("input", { type: "text", id, list, maxlength, oninput: changed, spellcheck: "false" });
    return plain(input, () => (input.value === "" && empty === null ? null : input.value), (value) => { input.value = value ?? ""; });
  },
  long({ id, changed, maxlength, rows, empty }) {
    const input = make("textarea", { id, rows: String(rows), maxlength, oninput: changed });
    return plain(input, () => (input.value === "" && empty === null ? null : input.value), (value) => { input.value = value ?? ""; });
  },
  lines({ id, changed, empty }) {
    const input = make("textarea", { id, rows: "3", spellcheck: "false", class: "mono", oninput: changed });
    const read = () => { const found = lines(input.value); return found.length || empty === undefined ? found : empty; };
    return plain(input, read, (value) => { input.value = (value ?? []).join("\n"); });
  },
  choice({ id, changed, choices = [], words = "" }) {
    const input = make("select", { id, onchange: changed });
    const offer = (pairs) => {
      const { value } = input;
      input.replaceChildren(...pairs.map(([one, label]) => make("option", { value: one }, label)));
      if (value) show(value);
    };
    /* What is stored and not among the choices is one too: it must not be changed by being looked at. */
    const show = (value) => {
      if (![...input.options].some((one) => one.value === value)) input.append(make("option", { value }, value));
      input.value = value;
    };
    offer(choices.map((one) => [one, say(words + one)]));
    return { ...plain(input, () => input.value, show), offer };
  },
  hours: officeHours,
  ownModel,
  ownTools,
  rules: personRules,
  color({ id, changed }) {
    const input = make("input", { type: "color", id, oninput: () => { none = false; changed(); } });
    let none = true;
    const node = make("div", { class: "row" }, input, button(say("noColor"), () => { none = true; input.value = "#0b6b5d"; changed(); }, { class: "small" }));
    return { node, inputs: [input], read: () => (none ? null : input.value), show: (value) => { none = value === null; input.value = value || "#0b6b5d"; } };
  },
  channels({ changed }) {
    const rows = make("div", { class: "hooks" });
    const add = (channel) => {
      const write = (name, type, more = {}) => make("input", { type, "aria-label": say(`channel_${name}`), placeholder: say(`channel_${name}`), value: channel[name] ?? "", oninput: changed, ...more });
      const whole = { min: 1, inputmode: "numeric" }, secret = { autocomplete: "new-password" };
      const inputs = {
        address: write("address", "url"), account: write("account", "number", whole), inbox: write("inbox", "number", whole),
        token: write("token", "password", secret), secret: write("secret", "password", secret),
      };
      const row = make("div", { class: "hook" }, ...Object.values(inputs),
        channel.id && make("p", { class: "hint" }, say("channelHook"), " ", make("code", {}, `${location.origin}/v2/channels/chatwoot/${channel.id}`)),
        button(say("remove"), () => { row.remove(); changed(); }, { class: "small" }));
      const count = (input) => (input.value === "" ? null : Number(input.value));
      row.read = () => ({
        ...(channel.id && { id: channel.id }), kind: "chatwoot", address: inputs.address.value.trim(), account: count(inputs.account) ?? 1,
        ...(count(inputs.inbox) && { inbox: count(inputs.inbox) }), token: inputs.token.value, secret: inputs.secret.value,
      });
      rows.append(row);
    };
    const node = make("div", {}, rows, button(say("addChannel"), () => { add({ account: 1 }); changed(); }, { class: "small" }));
    return {
      node, inputs: [], group: true,
      read: () => [...rows.children].map((row) => row.read()),
      show: (value) => { rows.replaceChildren(); (value || []).forEach(add); },
    };
  },
  webhooks({ changed }) {
    const rows = make("div", { class: "hooks" });
    const add = (hook) => {
      const url = make("input", { type: "url", placeholder: "https://", "aria-label": say("hookUrl"), value: hook.url, oninput: changed });
      const events = make("textarea", { rows: "2", class: "mono", "aria-label": say("hookEvents"), placeholder: say("hookEvents"), oninput: changed });
      events.value = hook.events.join("\n");
      const secret = make("input", { type: "password", "aria-label": say("hookSecret"), placeholder: say("hookSecret"), autocomplete: "new-password", value: hook.secret, oninput: changed });
      const row = make("div", { class: "hook" }, url, secret, events,
        hook.goneAt && make("p", { class: "hint" }, say("hookGone")),
        button(say("remove"), () => { row.remove(); changed(); }, { class: "small" }));
      row.read = () => ({ url: url.value.trim(), secret: secret.value, events: lines(events.value) });
      rows.append(row);
    };
    const node = make("div", {}, rows, button(say("addHook"), () => { add({ url: "", events: [], secret: "" }); changed(); }, { class: "small" }));
    return {
      node, inputs: [], group: true,
      read: () => [...rows.children].map((row) => row.read()),
      show: (value) => { rows.replaceChildren(); value.forEach(add); },
    };
  },
};
