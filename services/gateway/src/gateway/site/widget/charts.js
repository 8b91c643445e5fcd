/* A chart of prices beside an answer: a line or candles, read with pointer, keys or screen reader; the figures are in a
   table below. */
import { draw, make } from "./dom.js";
import { barTime, percent, price } from "./figures.js";
import { fill, words } from "./i18n.js";

const WIDTH = 340, HEIGHT = 132, TOP = 8, MOST_BARS = 120;
const DAY = 86_400_000;

export function chart({ kind, symbol, series }) {
  const bars = series.map((bar) => ({ ...bar, at: Date.parse(bar.time) })).filter((bar) => Number.isFinite(bar.close) && bar.at);
  if (bars.length < 2) return null;
  const first = bars[0], last = bars[bars.length - 1];
  const short = (last.at - first.at) / bars.length < DAY / 2;
  const rise = last.close - first.close;
  const change = `${rise < 0 ? "▼" : "▲"} ${percent(rise / first.close)}`;
  const readout = make("span", { class: "readout" });
  const showLast = () => readout.replaceChildren(make("b", {}, price(last.close)),
    make("span", { class: rise < 0 ? "fall" : "rise" }, change));
  showLast();
  const summary = fill(words.chartSummary, {
    symbol, from: barTime(first.at, short), to: barTime(last.at, short), first: price(first.close), last: price(last.close), change: percent(rise / first.close),
  });
  const drawn = merged(bars, MOST_BARS);
  return make("figure", { class: `chart ${rise < 0 ? "falling" : "rising"}` },
    make("figcaption", {}, make("span", { class: "symbol" }, symbol), readout),
    picture(kind === "candles" && drawn.every((bar) => bar.high != null && bar.low != null && bar.open != null), drawn, summary, (bar) =>
      bar ? readout.replaceChildren(make("b", {}, price(bar.close)), make("span", {}, barTime(bar.at, short))) : showLast()),
    make("div", { class: "span", "aria-hidden": "true" }, make("span", {}, barTime(first.at, short)), make("span", {}, barTime(last.at, short))),
    figures(bars, short));
}

/* At most so many bars: neighbours are merged, from the first one's open to the last one's close. */
function merged(bars, maximum) {
  const size = Math.ceil(bars.length / maximum);
  if (size === 1) return bars;
  const groups = Array.from({ length: Math.ceil(bars.length / size) }, (_, group) => bars.slice(group * size, (group + 1) * size));
  return groups.map((group) => ({
    ...group[group.length - 1], open: group[0].open,
    high: Math.max(...group.map((bar) => bar.high ?? bar.close)), low: Math.min(...group.map((bar) => bar.low ?? bar.close)),
  }));
}

function picture(candles, bars, summary, onPoint) {
  const lows = bars.map((bar) => (candles ? bar.low : bar.close)), highs = bars.map((bar) => (candles ? bar.high : bar.close));
  const low = Math.min(...lows), high = Math.max(...highs), range = high - low || 1;
  const x = (index) => ((index + 0.5) / bars.length) * WIDTH;
  const y = (value) => TOP + (1 - (value - low) / range) * (HEIGHT - 2 * TOP);
  const cross = draw("path", { class: "cross", d: "" });
  const svg = draw("svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", tabindex: "0", "aria-label": summary,
  }, draw("path", { class: "grid", d: [low, low + range / 2, high].map((value) => `M0 ${y(value)}H${WIDTH}`).join("") }),
  ...(candles ? candleShapes(bars, x, y) : lineShapes(bars, x, y)), cross);

  let current = -1;
  const point = (next) => {
    current = next < 0 ? -1 : Math.min(next, bars.length - 1);
    cross.setAttribute("d", current < 0 ? "" : `M${x(current)} 0V${HEIGHT}`);
    onPoint(current < 0 ? null : bars[current]);
  };
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    point(Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * bars.length)));
  });
  svg.addEventListener("pointerleave", () => point(-1));
  svg.addEventListener("blur", () => point(-1));
  svg.addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: -1, ArrowRight: 1, Home: -bars.length, End: bars.length };
    if (!(event.key in steps)) return;
    event.preventDefault();
    point(Math.max(0, (current < 0 ? bars.length : current) + steps[event.key]));
  });
  const edges = make("div", { class: "edges", "aria-hidden": "true" }, make("span", {}, price(high)), make("span", {}, price(low)));
  return make("div", { class: "picture" }, svg, edges);
}

function lineShapes(bars, x, y) {
  const line = bars.map((bar, index) => `${index ? "L" : "M"}${x(index).toFixed(1)} ${y(bar.close).toFixed(1)}`).join("");
  return [
    draw("path", { class: "area", d: `${line}L${x(bars.length - 1)} ${HEIGHT}L${x(0)} ${HEIGHT}Z` }),
    draw("path", { class: "line", d: line }),
  ];
}

function candleShapes(bars, x, y) {
  const width = Math.max(1.4, (WIDTH / bars.length) * 0.62);
  const shape = (bar, index) => {
    const top = y(Math.max(bar.open, bar.close)), bottom = Math.max(y(Math.min(bar.open, bar.close)), top + 1);
    return `M${x(index)} ${y(bar.high)}V${top}M${x(index)} ${bottom}V${y(bar.low)}M${x(index) - width / 2} ${top}h${width}V${bottom}h${-width}Z`;
  };
  const kinds = [["candle rise", (bar) => bar.close >= bar.open], ["candle fall", (bar) => bar.close < bar.open]];
  return kinds.map(([name, fits]) => draw("path", { class: name, d: bars.map((bar, index) => (fits(bar) ? shape(bar, index) : "")).join("") }));
}

function figures(bars, short) {
  const full = bars.every((bar) => bar.open != null && bar.high != null && bar.low != null);
  const names = full ? ["open", "high", "low", "close"] : ["close"];
  const titles = { open: words.open, high: words.high, low: words.low, close: words.closePrice };
  const rows = () => bars.slice().reverse().map((bar) => make("tr", {}, make("th", { scope: "row" }, barTime(bar.at, short)),
    ...names.map((name) => make("td", {}, price(bar[name])))));
  const body = make("tbody");
  return make("details", { ontoggle: () => { if (!body.children.length) body.append(...rows()); } },
    make("summary", {}, words.chartFigures),
    make("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": words.chartFigures }, make("table", {},
      make("thead", {}, make("tr", {}, make("th", { scope: "col" }, words.time), ...names.map((name) => make("th", { scope: "col" }, titles[name])))), body)));
}
