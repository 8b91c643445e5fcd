/* A tool's result in the frame of an MCP host (MCP Apps, 2026-01-26): prices as a chart, an order with its buttons. */
import { ActionCard } from "./cards.js";
import { chart } from "./charts.js";
import { make } from "./dom.js";
import { words } from "./i18n.js";

const REVISION = "2026-01-26", MOST_CANDLES = 60;
const STATES = { pending_confirmation: "pending", confirmed: "confirmed", open: "confirmed", filled: "confirmed", rejected: "rejected", expired: "expired", failed: "failed" };
const root = document.querySelector("main");
const pending = new Map();
let lastId = 0;

const post = (message) => window.parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
const ask = (method, params) => new Promise((resolve, reject) => {
  lastId += 1;
  pending.set(lastId, { resolve, reject });
  post({ id: lastId, method, params });
});

window.addEventListener("message", ({ data, source }) => {
  if (source !== window.parent || !data || data.jsonrpc !== "2.0") return;
  if (data.method === undefined) {
    const { resolve, reject } = pending.get(data.id) || {};
    pending.delete(data.id);
    if (data.error) reject?.(data.error); else resolve?.(data.result);
  } else if (data.id !== undefined) {
    const isKnown = data.method === "ping" || data.method === "ui/resource-teardown";
    post({ id: data.id, ...(isKnown ? { result: {} } : { error: { code: -32601, message: "Method not found" } }) });
  } else if (data.method === "ui/notifications/tool-result") show(data.params || {});
  else if (data.method === "ui/notifications/host-context-changed") dress(data.params || {});
});

function show({ structuredContent: result = {}, _meta: meta = {} }) {
  const pictures = charts(result);
  root.replaceChildren(...(result.action_id ? [order(result, meta["nexus/confirmation"])] : pictures));
}

/* Charts of bars (get_ohlcv), or of the last bars of several symbols (market_snapshot). */
function charts(result) {
  const series = result.bars ? [[result.symbol, result.bars]] : Object.entries(result.tickers || {}).map(([symbol, ticker]) => [symbol, ticker.ohlcv?.tail]);
  return series.filter(([, bars]) => Array.isArray(bars))
    .map(([symbol, bars]) => chart({ kind: bars.length > MOST_CANDLES ? "line" : "candles", symbol, series: bars })).filter(Boolean);
}

/* A click asks through the host. It needs the order's confirmation token, which only a view gets. */
function order(result, confirmation) {
  const card = new ActionCard(action(result), (id, decision, edits) => {
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

function action(result) {
  return { id: result.action_id, state: STATES[result.status] || result.status, summary: result.summary || "", editable: result.editable,
    expiresAt: result.expires_at, details: { ...camel(result.order), currency: result.estimate?.currency, estimate: camel(result.estimate) } };
}

function dress({ theme }) {
  if (theme) document.documentElement.dataset.theme = theme;
}

const size = () => post({ method: "ui/notifications/size-changed", params: { width: root.offsetWidth, height: document.documentElement.offsetHeight } });
ask("ui/initialize", { protocolVersion: REVISION, appInfo: { name: "nexus", version: "1" }, appCapabilities: { availableDisplayModes: ["inline"] } })
  .then(({ hostContext }) => {
    dress(hostContext || {});
    post({ method: "ui/notifications/initialized", params: {} });
    new ResizeObserver(size).observe(root);
  }, () => root.append(make("p", { class: "problem" }, words.notNow)));
