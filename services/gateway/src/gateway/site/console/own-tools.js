/* Tools of a company's own: requests to its server, and MCP servers of which tools are chosen one by one. */
import { post } from "./api.js";
import { make, button } from "./dom.js";
import { choose } from "./rows.js";
import { language, say } from "./i18n.js";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];
const NO_ARGUMENTS = { type: "object", properties: {} };
/* What is no JSON goes as it is written: the server says what is wrong with it. */
const parsed = (text) => { try { return JSON.parse(text); } catch { return text; } };
const write = (name, value, changed, more = {}) =>
  make("input", { type: "text", "aria-label": say(`tool_${name}`), placeholder: say(`tool_${name}`), value: value ?? "", oninput: changed, spellcheck: "false", ...more });
const tick = (name, checked, changed) => {
  const input = make("input", { type: "checkbox", onchange: changed });
  input.checked = checked;
  return [input, make("label", { class: "row" }, input, say(`tool_${name}`))];
};

/* One header has a place of its own; others stay as they are. */
function header(owner, changed) {
  const [first, ...others] = owner.headers ?? [];
  const name = write("header", first?.name, changed);
  const value = write("secret", first?.value, changed, { type: "password", autocomplete: "new-password" });
  return { inputs: [name, value], read: () => [...(name.value.trim() ? [{ ...first, name: name.value.trim(), value: value.value }] : []), ...others] };
}

function httpRow(tool, changed, gone) {
  const name = write("name", tool.name, changed), url = write("url", tool.url, changed, { type: "url", class: "wide" });
  const about = write("description", tool.description, changed, { maxlength: 1024, class: "wide" });
  const method = make("select", { "aria-label": say("tool_method"), onchange: changed }, ...METHODS.map((one) => make("option", { value: one }, one)));
  choose(method, tool.method ?? "POST");
  const head = header(tool, changed);
  const schema = make("textarea", { rows: "4", class: "mono", "aria-label": say("tool_schema"), placeholder: say("tool_schema"), spellcheck: "false", oninput: changed });
  schema.value = JSON.stringify(tool.inputSchema ?? NO_ARGUMENTS, null, 1);
  const [effects, effectsLabel] = tick("effects", tool.sideEffects ?? false, changed);
  const [asks, asksLabel] = tick("asks", tool.confirmation ?? true, changed);
  const row = make("div", { class: "hook" }, name, method, about, url, ...head.inputs, schema, effectsLabel, asksLabel,
    button(say("remove"), () => { row.remove(); gone(); }, { class: "small" }));
  row.read = () => ({
    ...tool, name: name.value.trim(), description: about.value.trim(), inputSchema: parsed(schema.value), url: url.value.trim(), method: method.value,
    headers: head.read(), sideEffects: effects.checked, confirmation: asks.checked,
  });
  return row;
}

function mcpRow(server, changed, gone, list) {
  const name = write("server", server.name, changed, { maxlength: 16 }), url = write("url", server.url, changed, { type: "url" });
  const head = header(server, changed);
  const told = make("p", { class: "hint", role: "status" }), choices = make("div", {});
  let chosen = [...(server.tools ?? [])];
  const draw = (offered) => choices.replaceChildren(...offered.map((tool) => {
    const input = make("input", { type: "checkbox" });
    input.checked = chosen.some((one) => one.name === tool.name);
    input.onchange = () => { chosen = chosen.filter((one) => one.name !== tool.name).concat(input.checked ? [tool] : []); changed(); };
    return make("label", { class: "row" }, input, make("b", {}, tool.name), tool.description);
  }));
  const row = make("div", { class: "hook" }, name, url, ...head.inputs, choices, told,
    button(say("listTools"), async () => {
      told.textContent = say("loading");
      try {
        const { tools } = await list(name.value.trim());
        told.textContent = "";
        draw([...tools, ...chosen.filter((one) => !tools.some((other) => other.name === one.name))]);
      } catch (error) { told.textContent = error.message; }
    }, { class: "small" }),
    button(say("remove"), () => { row.remove(); gone(); }, { class: "small" }));
  draw(chosen);
  row.read = () => ({ ...server, name: name.value.trim(), url: url.value.trim(), headers: head.read(), tools: chosen });
  return row;
}

export function ownTools({ changed, company }) {
  const http = make("div", { class: "hooks" }), mcp = make("div", { class: "hooks" });
  let kept = {};
  const read = () => ({ ...kept, http: [...http.children].map((row) => row.read()), mcp: [...mcp.children].map((row) => row.read()) });
  const list = (server) => post(`/v2/companies/${company}/mcp-tools`, { server, language, settings: { ownTools: read() } }, { deadline: 40_000 });
  const addHttp = (tool) => http.append(httpRow(tool, changed, changed));
  const addMcp = (server) => mcp.append(mcpRow(server, changed, changed, list));
  const node = make("div", {}, http, button(say("addTool"), () => { addHttp({}); changed(); }, { class: "small" }),
    mcp, button(say("addServer"), () => { addMcp({}); changed(); }, { class: "small" }));
  const show = (value) => {
    kept = value ?? {};
    http.replaceChildren();
    mcp.replaceChildren();
    (kept.http ?? []).forEach(addHttp);
    (kept.mcp ?? []).forEach(addMcp);
  };
  return { node, inputs: [], group: true, read, show };
}
