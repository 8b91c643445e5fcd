/* The company's ready replies: found by "/", with their places filled in; and the page on which they are edited. */
import { call, get } from "./api.js";
import { make, button } from "./dom.js";
import { Refresh } from "./refresh.js";
import { fill, say } from "./i18n.js";

const MAX_SHOWN = 6;

/* Fills in {name}, {agent}, {company} and {page}. The greeting of a visitor without a name has none; other unknown places
   stay, to be seen and filled in. */
export const filled = (text, places) => fill(places.name ? text : text.replace(/ \{name\}|\{name\},? ?/g, ""),
  Object.fromEntries(Object.entries(places).filter(([, value]) => value)));

/* A source for a picker: a slash and the beginning of a shortcut, or words of the reply. onPick(text, company) */
export function replySource(onPick) {
  let replies = null;
  return async (textBefore) => {
    const match = /^\/(\S*)$/.exec(textBefore);
    if (!match) return null;
    replies ||= get("/v2/replies").catch(() => { replies = null; return { items: [] }; });
    const typed = match[1].toLowerCase(), { items: items, company } = await replies;
    const matches = [...items.filter((reply) => reply.shortcut.startsWith(typed)),
      ...items.filter((reply) => !reply.shortcut.startsWith(typed) && reply.text.toLowerCase().includes(typed))].slice(0, MAX_SHOWN);
    return { label: say("replies"), options: matches.map((reply) => ({ title: `/${reply.shortcut}`, text: reply.text.slice(0, 120), pick: () => onPick(reply.text, company) })) };
  };
}

export const repliesView = {
  path: "replies",
  title: "replies",
  glyph: "note",
  open(stage) {
    const list = make("ul", { class: "replies" });
    const fault = make("p", { class: "fault", role: "alert" });
    const shortcut = make("input", { "aria-label": say("shortcut"), placeholder: say("shortcut"), maxlength: "40", pattern: "[a-z0-9_\\-]{1,40}", title: say("shortcutForm"), required: true });
    const text = make("textarea", { "aria-label": say("replyText"), placeholder: say("replyText"), rows: "4", maxlength: "4000", required: true });
    const change = async (work) => {
      fault.textContent = "";
      try { await work(); await reading.now(); } catch (error) { fault.textContent = error.message; }
    };
    const draw = async () => {
      const { items } = await get("/v2/replies");
      list.replaceChildren(...(items.length ? items.map((reply) => make("li", {},
        make("p", { class: "row" }, make("b", {}, `/${reply.shortcut}`),
          button(say("edit"), () => { shortcut.value = reply.shortcut; text.value = reply.text; text.focus(); }, { class: "small" }),
          button(say("delete"), () => change(() => call("DELETE", `/v2/replies/${encodeURIComponent(reply.shortcut)}`)), { class: "small danger" })),
        make("p", { class: "text plain" }, reply.text))) : [make("li", { class: "empty" }, say("noReplies"))]));
    };
    const reading = new Refresh(draw, (text) => { fault.textContent = text; });
    stage.append(make("div", { class: "page" }, make("h1", {}, say("replies")), make("p", { class: "hint" }, say("repliesHint")),
      make("form", { class: "replyform", onsubmit: (event) => {
        event.preventDefault();
        change(async () => {
          await call("PUT", `/v2/replies/${encodeURIComponent(shortcut.value.trim())}`, { body: { text: text.value } });
          shortcut.value = text.value = "";
        });
      } }, shortcut, text, make("p", { class: "row" }, make("button", { type: "submit", class: "primary" }, say("save")))),
      fault, list));
    reading.now();
    return { end: () => reading.end() };
  },
};
