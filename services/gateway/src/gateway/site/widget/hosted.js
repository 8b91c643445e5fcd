/* A tool's result in the frame of an MCP host (MCP Apps, 2026-01-26): prices as a chart, an order with its yes and no. */
import { ActionCard } from "./cards.js";
import { chart } from "./charts.js";
import { make } from "./dom.js";
import { words } from "./i18n.js";

const REVISION = "2026-01-26", MOST_CANDLES = 60;
const STATES = { pending_confirmation: "pending", confirmed: "confirmed", open: "confirmed", filled: "confirmed", rejected: "rejected", expired: "expired", failed: "failed" };
const root = document.querySelector("main");
const asked = new Map();
let asks = 0;

const tell = (message) => window.parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
const ask = (method, params) => new Promise((resolve, reject) => {
  asks += 1;
  asked.set(asks, { resolve, reject });
  tell({ id: asks, method, params });
});

window.addEventListener("message", ({ data, source }) => {
  if (source !== window.parent || !data || data.jsonrpc !== "2.0") return;
  if (data.method === undefined) {
    const { resolve, reject } = asked.get(data.id) || {};
    asked.delete(data.id);
    if (data.error) reject?.(data.error); else resolve?.(data.result);
  } else if (data.id !== undefined) {
    const known = data.method === "ping" || data.method === "ui/resource-teardown";
    tell({ id: data.id, ...(known ? { result: {} } : { error: { code: -32601, message: "Method not found" } }) });
  } else if (data.method === "ui/notifications/tool-result") show(data.params || {});
  else if (data.method === "ui/notifications/host-context-changed") dress(data.params || {});
});

function show({ structuredContent: told = {}, _meta: meta = {} }) {
  const drawn = charts(told);
  root.replaceChildren(...(told.action_id ? [order(told, meta["nexus/confirmation"])] : drawn));
}

/* Of bars (get_ohlcv), or of the newest ones of several symbols (market_snapshot). */
function charts(told) {
  const found = told.bars ? [[told.symbol, told.bars]] : Object.entries(told.tickers || {}).map(([symbol, one]) => [symbol, one.ohlcv?.tail]);
  return found.filter(([, bars]) => Array.isArray(bars))
    .map(([symbol, bars]) => chart({ kind: bars.length > MOST_CANDLES ? "line" : "candles", symbol, series: bars })).filter(Boolean);
}

/* A click asks through the host; without the order's own confirmation, which only a view is given, there is none. */
function order(told, confirmation) {
  const card = new ActionCard(action(told), (id, decision, edits) => {
    if (!confirmation) return false;
    ask("tools/call", { name: "decide_order", arguments: { action_id: id, confirmation, decision, edits } }).then((result) => {
      const { action: decided, error } = result.structuredContent || {};
      if (decided) card.update(decided); else card.failed(error?.message || words.notNow);
    }, (error) => card.failed(error.message || words.notNow));
    return true;
  });
  return card.node;
}

const camel = (data) => Object.fromEntries(Object.entries(data || {}).map(([name, value]) =>
  [name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase()), value]));

function action(told) {
  return { id: told.action_id, state: STATES[told.status] || told.status, summary: told.summary || "", editable: told.editable,
    expiresAt: told.expires_at, details: { ...camel(told.order), currency: told.estimate?.currency, estimate: camel(told.estimate) } };
}

function dress({ theme }) {
  if (theme) document.documentElement.dataset.theme = theme;
}

const size = () => tell({ method: "ui/notifications/size-changed", params: { width: root.offsetWidth, height: document.documentElement.offsetHeight } });
ask("ui/initialize", { protocolVersion: REVISION, appInfo: { name: "nexus", version: "1" }, appCapabilities: { availableDisplayModes: ["inline"] } })
  .then(({ hostContext }) => {
    dress(hostContext || {});
    tell({ method: "ui/notifications/initialized", params: {} });
    new ResizeObserver(size).observe(root);
  }, () => root.append(make("p", { class: "problem" }, words.notNow)));
