/* The company's ready replies: found by "/", with their places filled in; and the page on which they are kept. */
import { call, get } from "./api.js";
import { make, button } from "./dom.js";
import { fill, say } from "./words-of.js";

const MOST_SHOWN = 6;

/* {name}, {agent}, {company}, {page}: what is not known stays as it is, to be seen and filled in. */
export const filled = (text, places) => fill(text, Object.fromEntries(Object.entries(places).filter(([, value]) => value)));

export class ReplyPicker {
  node = make("ul", { class: "picker", role: "listbox", hidden: true, "aria-label": say("replies") });
  #replies = null; #shown = []; #at = 0; #onPick;

  constructor(onPick) { this.#onPick = onPick; }

  /* What stands in the field: a slash and the beginning of a shortcut, or words of the reply. */
  async look(text) {
    const asked = /^\/(\S*)$/.exec(text);
    if (!asked) { this.close(); return; }
    this.#replies ||= get("/v2/replies").then(({ items }) => items).catch(() => { this.#replies = null; return []; });
    const wanted = asked[1].toLowerCase();
    const all = await this.#replies;
    this.#shown = [...all.filter((one) => one.shortcut.startsWith(wanted)),
      ...all.filter((one) => !one.shortcut.startsWith(wanted) && one.text.toLowerCase().includes(wanted))].slice(0, MOST_SHOWN);
    this.#at = 0;
    this.#draw();
  }
  close() { this.node.hidden = true; this.#shown = []; }
  /* Whether the key was for it. */
  key(event) {
    if (!this.#shown.length) return false;
    if (event.key === "ArrowDown") this.#at = (this.#at + 1) % this.#shown.length;
    else if (event.key === "ArrowUp") this.#at = (this.#at + this.#shown.length - 1) % this.#shown.length;
    else if (event.key === "Enter" || event.key === "Tab") { this.#pick(this.#shown[this.#at]); return true; }
    else if (event.key === "Escape") { this.close(); return true; }
    else return false;
    this.#draw();
    return true;
  }
  #pick(one) { this.close(); this.#onPick(one.text); }
  #draw() {
    this.node.hidden = !this.#shown.length;
    this.node.replaceChildren(...this.#shown.map((one, index) =>
      make("li", { role: "option", "aria-selected": String(index === this.#at), onclick: () => this.#pick(one) },
        make("b", {}, `/${one.shortcut}`), " ", one.text.slice(0, 120))));
  }
}

export const repliesView = {
  path: "replies",
  title: "replies",
  glyph: "note",
  open(stage) {
    const list = make("ul", { class: "replies" });
    const fault = make("p", { class: "fault", role: "alert" });
    const shortcut = make("input", { "aria-label": say("shortcut"), placeholder: say("shortcut"), maxlength: "40", pattern: "[a-z0-9_\\-]{1,40}", required: true });
    const text = make("textarea", { "aria-label": say("replyText"), rows: "4", maxlength: "4000", required: true });
    const change = async (work) => {
      fault.textContent = "";
      try { await work(); await draw(); } catch (error) { fault.textContent = error.message; }
    };
    const draw = async () => {
      const { items } = await get("/v2/replies");
      list.replaceChildren(...(items.length ? items.map((one) => make("li", {},
        make("p", { class: "row" }, make("b", {}, `/${one.shortcut}`),
          button(say("edit"), () => { shortcut.value = one.shortcut; text.value = one.text; text.focus(); }, { class: "small" }),
          button(say("delete"), () => change(() => call("DELETE", `/v2/replies/${encodeURIComponent(one.shortcut)}`)), { class: "small danger" })),
        make("p", { class: "text plain" }, one.text))) : [make("li", { class: "empty" }, say("noReplies"))]));
    };
    stage.append(make("div", { class: "page" }, make("h1", {}, say("replies")), make("p", { class: "hint" }, say("repliesHint")),
      make("form", { class: "replyform", onsubmit: (event) => {
        event.preventDefault();
        change(async () => {
          await call("PUT", `/v2/replies/${encodeURIComponent(shortcut.value.trim())}`, { body: { text: text.value } });
          shortcut.value = text.value = "";
        });
      } }, shortcut, text, make("p", { class: "row" }, make("button", { type: "submit", class: "primary" }, say("keep")))),
      fault, list));
    change(async () => {});
    return {};
  },
};
