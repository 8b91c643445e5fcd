/* Merging a visitor with a known person, who is searched for among those who have written, and separating them again. */
import { call, get } from "./api.js";
import { button, make } from "./dom.js";
import { nameOf } from "./inbox.js";
import { ask, showDialog } from "./question.js";
import { moment, say } from "./i18n.js";

const SEARCH_PAUSE_MS = 250, MAX_PEOPLE = 30, MAX_ROUNDS = 20;

const path = (visitor) => `/v2/visitors/${encodeURIComponent(visitor)}/merge`;
/* Repeats the call until nothing is left to do. */
async function repeatUntilDone(method, visitor, body) {
  for (let round = 0; round < MAX_ROUNDS; round += 1) if (!(await call(method, path(visitor), { body })).body.left) return;
}

/* Finds others who have written: one row for each person, an exact id first. */
async function findOthers(query, visitor) {
  const paths = [`/v2/conversations?${new URLSearchParams({ limit: MAX_PEOPLE, ...(query && { q: query }) })}`];
  if (/^[\w-]{1,64}$/.test(query)) paths.unshift(`/v2/conversations?${new URLSearchParams({ visitor: query, limit: 1 })}`);
  const conversations = (await Promise.all(paths.map(get))).flatMap(({ items }) => items);
  const people = new Map();
  for (const conversation of conversations) if (conversation.visitor?.id && conversation.visitor.id !== visitor && !people.has(conversation.visitor.id)) people.set(conversation.visitor.id, conversation);
  return [...people.values()];
}

/* Asks whom to merge with. Resolves to whether they were merged; rejects with Problem. */
export function merge({ visitor }) {
  return new Promise((resolve, reject) => {
    let chosen = null, pause = 0, lastSearch = 0, done = () => resolve(false);
    const status = make("p", { class: "hint", role: "status" });
    const people = make("div", { class: "people", role: "radiogroup", "aria-label": say("mergeTitle") });
    const yes = button(say("merge"), () => {
      done = () => repeatUntilDone("POST", visitor.id, { into: chosen.visitor.id }).then(() => resolve(true), reject);
      dialog.close();
    }, { class: "primary", disabled: true });
    const choose = (conversation) => {
      chosen = conversation;
      yes.disabled = false;
      status.textContent = say("mergeHint", { to: nameOf(conversation) });
    };
    const row = (conversation) => make("label", {},
      make("input", { type: "radio", name: "person", value: conversation.visitor.id, checked: conversation.visitor.id === chosen?.visitor.id, onchange: () => choose(conversation) }),
      make("span", {},
        make("span", { class: "top" }, make("b", { dir: "auto" }, nameOf(conversation)), conversation.visitor.plan && make("span", { class: "chip" }, conversation.visitor.plan),
          make("time", { datetime: conversation.lastMessage?.createdAt || conversation.startedAt }, moment(conversation.lastMessage?.createdAt || conversation.startedAt))),
        make("small", { dir: "auto" }, [conversation.visitor.email, conversation.visitor.page?.title || conversation.visitor.page?.url, conversation.lastMessage?.text.slice(0, 80)].filter(Boolean).join(" · "))));
    const look = async () => {
      const search = lastSearch += 1;
      try {
        const matches = await findOthers(field.value.trim(), visitor.id);
        if (search !== lastSearch) return;
        // A person who is no longer in the list is not chosen: nobody is merged with a person who is not shown.
        if (chosen && !matches.some((conversation) => conversation.visitor.id === chosen.visitor.id)) { chosen = null; yes.disabled = true; }
        people.replaceChildren(...matches.map(row));
        if (!chosen) status.textContent = matches.length ? "" : say("mergeNobody");
      } catch (error) { status.textContent = error.message; }
    };
    const field = make("input", { type: "search", "aria-label": say("mergeFind"), placeholder: say("mergeFind"), maxlength: "200",
      oninput: () => { clearTimeout(pause); pause = setTimeout(look, SEARCH_PAUSE_MS); } });
    const dialog = showDialog(say("mergeTitle"), [field, people, status, make("p", { class: "row end" }, button(say("no"), () => dialog.close(), {}), yes)],
      { class: "merge", closed: () => { clearTimeout(pause); done(); } });
    look();
  });
}

/* Separates them again, after a question. */
export async function separate(view) {
  if (!await ask(say("separateTitle", { to: nameOf(view) }), say("separateHint"), say("separate"))) return false;
  await repeatUntilDone("DELETE", view.visitor.was);
  return true;
}
