/* A company's own tools: requests to its server, and MCP servers whose tools are chosen one by one. */
import { post } from "./api.js";
import { make, button } from "./dom.js";
import { choose } from "./rows.js";
import { language, say } from "./i18n.js";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];
const NO_ARGUMENTS = { type: "object", properties: {} };
/* Invalid JSON is sent as it is: the server says what is wrong with it. */
const parsed = (text) => { try { return JSON.parse(text); } catch { return text; } };
const write = (name, value, changed, attributes = {}) =>
  make("input", { type: "text", "aria-label": say(`tool_${name}`), placeholder: say(`tool_${name}`), value: value ?? "", oninput: changed, spellcheck: "false", ...attributes });
const tick = (name, checked, changed) => {
  const input = make("input", { type: "checkbox", onchange: changed });
  input.checked = checked;
  return [input, make("label", { class: "row" }, input, say(`tool_${name}`))];
};

/* The first header has fields of its own; the others stay as they are. */
function header(owner, changed) {
  const [first, ...others] = owner.headers ?? [];
  const name = write("header", first?.name, changed);
  const value = write("secret", first?.value, changed, { type: "password", autocomplete: "new-password" });
  return { inputs: [name, value], read: () => [...(name.value.trim() ? [{ ...first, name: name.value.trim(), value: value.value }] : []), ...others] };
}

function httpRow(tool, changed, onRemove) {
  const name = write("name", tool.name, changed), url = write("url", tool.url, changed, { type: "url", class: "wide" });
  const about = write("description", tool.description, changed, { maxlength: 1024, class: "wide" });
  const method = make("select", { "aria-label": say("tool_method"), onchange: changed }, ...METHODS.map((method) => make("option", { value: method }, method)));
  choose(method, tool.method ?? "POST");
  const head = header(tool, changed);
  const schema = make("textarea", { rows: "4", class: "mono", "aria-label": say("tool_schema"), placeholder: say("tool_schema"), spellcheck: "false", oninput: changed });
  schema.value = JSON.stringify(tool.inputSchema ?? NO_ARGUMENTS, null, 1);
  const [effects, effectsLabel] = tick("effects", tool.sideEffects ?? false, changed);
  const [asks, asksLabel] = tick("asks", tool.confirmation ?? true, changed);
  const row = make("div", { class: "hook" }, name, method, about, url, ...head.inputs, schema, effectsLabel, asksLabel,
    button(say("remove"), () => { row.remove(); onRemove(); }, { class: "small" }));
  row.read = () => ({
    ...tool, name: name.value.trim(), description: about.value.trim(), inputSchema: parsed(schema.value), url: url.value.trim(), method: method.value,
    headers: head.read(), sideEffects: effects.checked, confirmation: asks.checked,
  });
  return row;
}

function mcpRow(server, changed, onRemove, list) {
  const name = write("server", server.name, changed, { maxlength: 16, class: "wide" });
  const url = write("mcpUrl", server.url, changed, { type: "url", class: "wide" });
  const head = header(server, changed);
  const status = make("p", { class: "hint", role: "status" }), choices = make("div", { class: "wide" });
  let chosen = [...(server.tools ?? [])];
  const draw = (offered) => choices.replaceChildren(...offered.map((tool) => {
    const input = make("input", { type: "checkbox" });
    input.checked = chosen.some((other) => other.name === tool.name);
    input.onchange = () => { chosen = chosen.filter((other) => other.name !== tool.name).concat(input.checked ? [tool] : []); changed(); };
    return make("label", { class: "row" }, input, make("b", {}, tool.name), tool.description);
  }));
  const row = make("div", { class: "hook" }, name, url, ...head.inputs, choices, status,
    button(say("listTools"), async () => {
      status.textContent = say("loading");
      try {
        const { tools } = await list(name.value.trim());
        status.textContent = "";
        draw([...tools, ...chosen.filter((tool) => !tools.some((offered) => offered.name === tool.name))]);
      } catch (error) { status.textContent = error.message; }
    }, { class: "small" }),
    button(say("remove"), () => { row.remove(); onRemove(); }, { class: "small" }));
  draw(chosen);
  row.read = () => ({ ...server, name: name.value.trim(), url: url.value.trim(), headers: head.read(), tools: chosen });
  return row;
}

export function ownTools({ changed, company }) {
  const http = make("div", { class: "hooks" }), mcp = make("div", { class: "hooks" });
  let saved = {};
  const read = () => ({ ...saved, http: [...http.children].map((row) => row.read()), mcp: [...mcp.children].map((row) => row.read()) });
  const list = (server) => post(`/v2/companies/${company}/mcp-tools`, { server, language, settings: { ownTools: read() } }, { deadline: 40_000 });
  const addHttp = (tool) => http.append(httpRow(tool, changed, changed));
  const addMcp = (server) => mcp.append(mcpRow(server, changed, changed, list));
  const node = make("div", {}, http, button(say("addTool"), () => { addHttp({}); changed(); }, { class: "small" }),
    mcp, button(say("addServer"), () => { addMcp({}); changed(); }, { class: "small" }));
  const show = (value) => {
    saved = value ?? {};
    http.replaceChildren();
    mcp.replaceChildren();
    (saved.http ?? []).forEach(addHttp);
    (saved.mcp ?? []).forEach(addMcp);
  };
  return { node, inputs: [], group: true, read, show };
}
