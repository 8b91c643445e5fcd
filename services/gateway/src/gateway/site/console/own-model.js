/* A company's own model: provider, address, name, key, price, and whether it accepts pictures. */
import { make } from "./dom.js";
import { choose } from "./rows.js";
import { say } from "./i18n.js";

const COMPATIBLE = "compatible", OFFLINE = "offline", WIDE = new Set(["provider", "address"]);

export function ownModel({ changed }) {
  let saved = {}, savedSees = false;
  const write = (type, attributes = {}) => make("input", { type, oninput: changed, ...attributes });
  const money = { min: 0, step: "any", inputmode: "decimal" };
  const inputs = {
    provider: make("select", { onchange: changed }), address: write("url", { placeholder: "https://models.example/v1" }),
    model: write("text", { maxlength: 200, spellcheck: "false" }), key: write("password", { autocomplete: "new-password" }),
    prompt: write("number", money), completion: write("number", money),
  };
  const sees = make("input", { type: "checkbox", onchange: changed });
  const read = () => {
    const { provider, address, model, key, prompt, completion } = inputs;
    if (!model.value.trim() && !address.value.trim()) return null;
    const value = { ...saved, ...(sees.checked !== savedSees && { sees: sees.checked }), provider: provider.value, address: address.value.trim(), model: model.value.trim(), key: key.value };
    value.price = prompt.value === "" && completion.value === "" ? "" : { prompt: Number(prompt.value), completion: Number(completion.value) };
    for (const name of ["address", "key", "price"]) if (value[name] === "") delete value[name];
    return value;
  };
  const show = (value) => {
    saved = value ?? {};
    sees.checked = savedSees = saved.sees ?? false;
    choose(inputs.provider, saved.provider ?? COMPATIBLE);
    for (const name of ["address", "model", "key"]) inputs[name].value = saved[name] ?? "";
    for (const name of ["prompt", "completion"]) inputs[name].value = saved.price?.[name] ?? "";
  };
  const offer = (providers) => {
    const { value } = inputs.provider;
    inputs.provider.replaceChildren(...providers.filter(([id]) => id !== OFFLINE).map(([id, label]) => make("option", { value: id }, label)));
    choose(inputs.provider, value);
  };
  const labelled = Object.entries(inputs).map(([name, input]) => make("label", { class: WIDE.has(name) ? "under wide" : "under" }, say(`model_${name}`), input));
  return { node: make("div", { class: "hook" }, ...labelled, make("label", { class: "wide" }, sees, " ", say("model_sees"))), inputs: [], group: true, read, show, offer };
}
