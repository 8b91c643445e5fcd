/* Notes in which a colleague mentioned the agent with @: newest first, and seen as soon as they are shown. */
import { call, get } from "./api.js";
import { make } from "./dom.js";
import { Refresh } from "./refresh.js";
import { exactly, say } from "./i18n.js";

export const namedView = {
  path: "named", title: "named", glyph: "at",
  open(stage, { inbox }) {
    const list = make("ul", { class: "failures" });
    const status = make("p", { class: "told", role: "status" });
    stage.append(make("section", { class: "page" }, make("h1", {}, say("named")), make("p", { class: "hint" }, say("namedHint")), status, list));
    let count = null;
    const load = async () => {
      const { items } = await get("/v2/notes/named");
      list.replaceChildren(...(items.length ? items.map(row) : [make("li", { class: "empty" }, say("noNamed"))]));
      if (!items.some((item) => item.unseen)) return;
      await call("PUT", "/v2/notes/named", { body: { seenUpTo: items[0].note.createdAt } });
      inbox.namesSeen();
    };
    const reading = new Refresh(load, (text) => { status.textContent = text; });
    /* A new one came while the page is open. */
    const stop = inbox.onNames((newCount) => { if (newCount && newCount !== count) reading.now(); count = newCount; });
    reading.now();
    return { end: () => { stop(); reading.end(); } };
  },
};

function row({ conversationId, note, unseen }) {
  return make("li", { "data-new": Boolean(unseen) },
    make("div", { class: "row spread" }, make("b", {}, note.name || note.by), make("time", { datetime: note.createdAt }, exactly(note.createdAt))),
    make("p", { class: "noted", dir: "auto" }, note.text),
    make("p", {}, make("a", { href: `#/inbox/${encodeURIComponent(conversationId)}` }, say("openConversation"))));
}
