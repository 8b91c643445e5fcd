/* Shows an answer's Markdown as nodes: headings, lists, tables, quotes, code, emphasis, links. Anything else is text,
   markup above all; pictures become links, since nothing of another site may load here. */
import { make } from "./dom.js";

const DEEPEST = 6;
const LIST = /^(\s*)(?:[-*+•]|(\d{1,4})[.)])\s+(.*)$/;
const FENCE = /^\s*(```|~~~)/;
const RULE = /^\s*([-*_])(\s*\1){2,}\s*$/;
const TABLE_LINE = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;
const INLINE = /(`+)([^`]+)\1(?!`)|!?\[([^\][]{1,500})\]\(([^()\s]{1,2000})(?:\s+"[^"]*")?\)|<?(https?:\/\/[^\s<>"'`]{1,2000})>?|(\*\*|__)(?=\S)(.+?)\6(?!\w)|(?<![*\w])(\*|_)(?=[^\s*_])(.+?)\8(?![*\w])|~~(?=\S)(.+?)~~/g;

/* The blocks of a text, each as its source: while an answer is written only the last ones change. */
export function blocks(text) {
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  const sources = [];
  for (let index = 0; index < lines.length;) {
    if (!lines[index].trim()) { index += 1; continue; }
    const end = endOf(lines, index);
    sources.push(lines.slice(index, end).join("\n"));
    index = end;
  }
  return sources;
}

const starts = (lines, index) => FENCE.test(lines[index]) || /^#{1,6}\s/.test(lines[index]) || /^\s*>/.test(lines[index])
  || LIST.test(lines[index]) || RULE.test(lines[index]) || isTable(lines, index);
const isTable = (lines, index) => lines[index].includes("|") && index + 1 < lines.length && lines[index + 1].includes("-")
  && TABLE_LINE.test(lines[index + 1]);

function endOf(lines, index) {
  const first = lines[index];
  let end = index + 1;
  if (FENCE.test(first)) {
    while (end < lines.length && !FENCE.test(lines[end])) end += 1;
    return Math.min(end + 1, lines.length);
  }
  if (/^#{1,6}\s/.test(first) || (RULE.test(first) && !LIST.test(first))) return end;
  const quoted = /^\s*>/.test(first), listed = LIST.test(first), table = !listed && isTable(lines, index);
  while (end < lines.length && lines[end].trim()) {
    if (table ? !lines[end].includes("|") : quoted ? !/^\s*>/.test(lines[end]) : !listed && starts(lines, end)) break;
    if (listed && !LIST.test(lines[end]) && !/^\s/.test(lines[end]) && starts(lines, end)) break;
    end += 1;
  }
  return end;
}

/* Makes the node of one block. */
export function block(source, depth = 0) {
  const lines = source.split("\n"), first = lines[0];
  if (depth > DEEPEST) return make("p", {}, source);
  if (FENCE.test(first)) {
    const body = lines.slice(1, FENCE.test(lines[lines.length - 1]) && lines.length > 1 ? -1 : undefined);
    return make("pre", { tabindex: "0" }, make("code", {}, body.join("\n")));
  }
  const heading = /^#{1,6}\s+(.*?)\s*#*$/.exec(first);
  if (heading) return make("p", { class: "heading" }, ...inline(heading[1]));
  if (/^\s*>/.test(first)) {
    const inner = lines.map((line) => line.replace(/^\s*>\s?/, "")).join("\n");
    return make("blockquote", {}, ...blocks(inner).map((part) => block(part, depth + 1)));
  }
  if (LIST.test(first)) return list(lines, depth);
  if (RULE.test(first)) return make("hr");
  if (isTable(lines, 0)) return table(lines);
  return make("p", {}, ...broken(source));
}

function list(lines, depth) {
  const start = LIST.exec(lines[0]), indent = start[1].length;
  const items = [];
  for (const line of lines) {
    const item = LIST.exec(line);
    if (item && item[1].length <= indent + 1) items.push({ text: item[3], inner: [] });
    else items[items.length - 1].inner.push(line);
  }
  const nodes = items.map(({ text, inner }) => make("li", {}, ...inline(text),
    ...(inner.length && LIST.test(inner[0]) ? [list(inner, depth + 1)] : inner.flatMap((line) => [" ", ...inline(line.trim())]))));
  return start[2] ? make("ol", { start: start[2] }, ...nodes) : make("ul", {}, ...nodes);
}

function table(lines) {
  const cells = (line) => line.trim().replace(/^\||\|$/g, "").split("|").map((cell) => cell.trim());
  const head = cells(lines[0]);
  const sides = cells(lines[1]).map((mark) => (/^:-+:$/.test(mark) ? "center" : mark.endsWith(":") ? "end" : null));
  const row = (line) => make("tr", {}, ...cells(line).slice(0, head.length).map((cell, index) => make("td", { class: sides[index] }, ...inline(cell))));
  return make("div", { class: "scroll", tabindex: "0", role: "group" }, make("table", {},
    make("thead", {}, make("tr", {}, ...head.map((cell, index) => make("th", { scope: "col", class: sides[index] }, ...inline(cell))))),
    make("tbody", {}, ...lines.slice(2).map(row))));
}

const broken = (text) => text.split("\n").flatMap((line, index) => [...(index ? [make("br")] : []), ...inline(line)]);

/* The emphasis, code and links of a line; `depth` limits the nesting. */
export function inline(text, depth = 0) {
  if (depth > DEEPEST) return [text];
  const nodes = [];
  let last = 0;
  for (const match of text.matchAll(INLINE)) {
    const [whole, , code, label, target, address, , strong, , soft, struck] = match;
    if (match.index > last) nodes.push(text.slice(last, match.index));
    last = match.index + whole.length;
    if (code) nodes.push(make("code", {}, code.trim()));
    else if (label) nodes.push(link(target, inline(label, depth + 1), whole));
    else if (address) {
      const tail = /[.,;:!?)\]]+$/.exec(address), target = tail ? address.slice(0, tail.index) : address;
      nodes.push(link(target, [target], whole), tail ? tail[0] : "");
    } else nodes.push(make(strong ? "strong" : soft ? "em" : "s", {}, ...inline(strong || soft || struck, depth + 1)));
  }
  if (last < text.length) nodes.push(text.slice(last));
  return nodes;
}

/* Returns the address if it may be followed: web addresses, and paths of this site (/pricing). */
export function safeAddress(target) {
  try {
    const address = new URL(target, target.startsWith("/") ? location.origin : undefined);
    return /^(https?|mailto):$/.test(address.protocol) ? address.href : null;
  } catch { return null; }
}
export function link(target, children, fallback) {
  const address = safeAddress(target);
  if (!address) return fallback;
  const here = address.startsWith(`${location.origin}/`);
  return make("a", { href: address, rel: "noopener noreferrer nofollow", ...(!here && { target: "_blank" }) }, ...children);
}
