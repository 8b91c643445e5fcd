/* The settings of a company, field by field: how each is shown, read back, and limited. */
import { BOUNDS, HINTED } from "./bounds.js";
import { categories } from "./categories.js";
import { make, button } from "./dom.js";
import { officeHours } from "./office-hours.js";
import { ownModel } from "./own-model.js";
import { ownTools } from "./own-tools.js";
import { personRules } from "./person-rules.js";
import { proactive } from "./proactive.js";
import { choose, lines, rows } from "./rows.js";
import { LANGUAGES, languageName, number, say } from "./i18n.js";

/* name: path in the settings; kind: how the field is shown. Its limits come from the server (bounds.js is generated from
   the model). A field's texts are setting_<name> and optionally setting_<name>_hint. */
const perLanguage = (name, kind, options) => LANGUAGES.map((locale) => [`assistant.${name}.${locale}`, kind, { empty: null, label: `${say(`setting_assistant.${name}`)} (${languageName(locale)})`, ...options }]);
export const SECTIONS = [
  ["company", [
    ["name", "text"], ["profile", "choice", { words: "profile_" }],
    ["languages", "lines"], ["timeZone", "text"], ["identity.highestPlan", "choice", { words: "plan_" }],
    ["assistant.name", "text"], ["assistant.tone", "text"],
    ...perLanguage("greeting", "text", { maxlength: 300 }), ...perLanguage("suggestions", "lines", {}),
  ]],
  ["answers", [
    ["aiSuggestionsEnabled", "switch"], ["aiRespondWithCommercial", "switch"], ["responseDelayMs", "number"],
    ["handoffTimeoutSeconds", "number"], ["ownerIdleMinutes", "number"],
    ["assignment", "choice", { words: "assignment_" }], ["resolveAfterHours", "number"],
    ["ownerIdleAction", "choice", { words: "idle_" }],
    ["askRating", "switch"], ["officeHours", "hours"], ["personRules", "rules"],
  ]],
  ["model", [
    ["ownModel", "ownModel"],
    ["preferredProvider", "choice"], ["preferredModel", "text", { list: "models" }],
    ["temperature", "number", { step: 0.1 }], ["maxResponseTokens", "number"],
    ["customSystemPrompt", "long", { rows: 8 }], ["includeVisitorInfo", "switch"],
  ]],
  ["tools", [
    ["toolConfig.fetchPageEnabled", "switch"], ["toolConfig.allowedDomains", "lines"], ["toolConfig.allowedPaths", "lines"],
    ["toolConfig.enabledTools", "lines"], ["toolConfig.maxIterations", "number"],
    ["toolConfig.categories.visitors", "categories"], ["toolConfig.categories.customers", "categories"],
    ["toolConfig.cacheEnabled", "switch"], ["toolConfig.cacheTtlSeconds", "number"],
    ["ownTools", "ownTools"],
  ]],
  ["money", [
    ["budget.dailyTokens", "number"], ["budget.visitorHourlyTokens", "number"],
    ["budget.whenSpent", "choice", { words: "spent_" }],
    ["budget.cheaperModel", "text", { list: "models" }], ["budget.fallbackText", "long", { rows: 3 }],
  ]],
  ["site", [["allowedOrigins", "lines"], ["brandColor", "color"], ["proactive", "proactive"]]],
  ["knowledge", [
    ["knowledge.siteUrl", "text"], ["knowledge.sitemap", "text"], ["knowledge.allowedPaths", "lines"], ["knowledge.deniedPaths", "lines"],
    ["knowledge.maxPages", "number"], ["knowledge.refreshHours", "number"], ["knowledge.synonyms", "groups"],
  ]],
  ["keeping", ["conversationDays", "fileDays", "traceDays"].map((name) => [`retention.${name}`, "number"])],
  ["channels", [["channels", "channels"]]],
  ["webhooks", [["webhooks", "webhooks"]]],
];

export const valueAt = (settings, path) => path.split(".").reduce((value, name) => value?.[name], settings);

/* Returns {path, node, read(), show(value), fault(text), warn(texts), bounds(), offer(choices)}. read() returns the value
   in the form of the settings; bounds() returns the fault of a number outside its limits; offer() sets the [value, label]
   pairs of a choice. */
export function field([path, kind, shape = {}], changed, company) {
  const options = { ...BOUNDS[path], ...shape };
  const id = `setting-${path.replaceAll(".", "-")}`;
  const fault = make("p", { class: "fault", id: `${id}-fault`, role: "alert" });
  const warned = make("p", { class: "warned", id: `${id}-warned` });
  const hintName = `setting_${path}_hint`;
  const tell = (text) => {
    fault.textContent = text;
    for (const input of control.inputs) input.toggleAttribute("aria-invalid", Boolean(text));
  };
  const control = CONTROLS[kind]({ id, company, changed: () => { tell(""); changed(); }, ...options });
  for (const input of control.inputs) input.setAttribute("aria-describedby", `${id}-hint ${id}-warned ${id}-fault`);
  const label = shape.label || say(`setting_${path}`);
  const words = [
    control.group ? make("span", { class: "name", id: `${id}-name` }, label) : make("label", { for: id, class: "name" }, label),
    make("p", { class: "hint", id: `${id}-hint` }, HINTED.includes(path) ? say(hintName) : ""),
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

/* A webhook without the fields that only the server sets. */
export const written = (hook) => ({ ...hook, goneAt: undefined });
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
    const read = () => { const values = lines(input.value); return values.length || empty === undefined ? values : empty; };
    return plain(input, read, (value) => { input.value = (value ?? []).join("\n"); });
  },
  groups({ id, changed }) {
    const input = make("textarea", { id, rows: "3", spellcheck: "false", class: "mono", oninput: changed });
    const read = () => lines(input.value).map((line) => line.split(",").map((word) => word.trim()).filter(Boolean));
    return plain(input, read, (value) => { input.value = (value ?? []).map((group) => group.join(", ")).join("\n"); });
  },
  choice({ id, changed, choices = [], words = "" }) {
    const input = make("select", { id, onchange: changed });
    const offer = (pairs) => {
      const { value } = input;
      input.replaceChildren(...pairs.map(([value, label]) => make("option", { value: value }, label)));
      if (value) choose(input, value);
    };
    offer(choices.map((choice) => [choice, say(words + choice)]));
    return { ...plain(input, () => input.value, (value) => choose(input, value)), offer };
  },
  categories,
  hours: officeHours,
  ownModel,
  ownTools,
  proactive,
  rules: personRules,
  color({ id, changed }) {
    const input = make("input", { type: "color", id, oninput: () => { none = false; changed(); } });
    let none = true;
    const node = make("div", { class: "row" }, input, button(say("noColor"), () => { none = true; input.value = "#0b6b5d"; changed(); }, { class: "small" }));
    return { node, inputs: [input], read: () => (none ? null : input.value), show: (value) => { none = value === null; input.value = value || "#0b6b5d"; } };
  },
  channels({ changed }) {
    const draw = (channel) => {
      const write = (name, type, attributes = {}) => make("input", { type, "aria-label": say(`channel_${name}`), placeholder: say(`channel_${name}`), value: channel[name] ?? "", oninput: changed, ...attributes });
      const wholeNumber = { min: 1, inputmode: "numeric" }, secret = { autocomplete: "new-password" };
      const inputs = {
        address: write("address", "url"), account: write("account", "number", wholeNumber), inbox: write("inbox", "number", wholeNumber),
        token: write("token", "password", secret), secret: write("secret", "password", secret),
      };
      const count = (input) => (input.value === "" ? null : Number(input.value));
      return {
        nodes: [...Object.values(inputs), channel.id && make("p", { class: "hint" }, say("channelHook"), " ", make("code", {}, `${location.origin}/v2/channels/chatwoot/${channel.id}`))],
        read: () => ({
          ...channel, address: inputs.address.value.trim(), account: count(inputs.account) ?? 1,
          inbox: count(inputs.inbox), token: inputs.token.value, secret: inputs.secret.value,
        }),
      };
    };
    return rows({ changed, draw, blank: () => ({ kind: "chatwoot", account: 1 }), another: say("addChannel") });
  },
  webhooks({ changed }) {
    const draw = (hook) => {
      const url = make("input", { type: "url", placeholder: "https://", "aria-label": say("hookUrl"), value: hook.url, oninput: changed });
      const events = make("textarea", { rows: "2", class: "mono", "aria-label": say("hookEvents"), placeholder: say("hookEvents"), oninput: changed });
      events.value = hook.events.join("\n");
      const secret = make("input", { type: "password", "aria-label": say("hookSecret"), placeholder: say("hookSecret"), autocomplete: "new-password", value: hook.secret, oninput: changed });
      return {
        nodes: [url, secret, events, hook.goneAt && make("p", { class: "hint" }, say("hookGone"))],
        read: () => ({ ...written(hook), url: url.value.trim(), secret: secret.value, events: lines(events.value) }),
      };
    };
    return rows({ changed, draw, blank: () => ({ url: "", events: [], secret: "" }), another: say("addHook") });
  },
};
