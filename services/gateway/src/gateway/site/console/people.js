/* Whom a visitor has turned out to be: looked for among those who have written, merged with them after a question, and
   separated again. */
import { call, get } from "./api.js";
import { button, make } from "./dom.js";
import { nameOf } from "./inbox.js";
import { ask } from "./question.js";
import { moment, say } from "./i18n.js";

const PAUSE = 250, MOST = 30, ROUNDS = 20;

const path = (visitor) => `/v2/visitors/${encodeURIComponent(visitor)}/merge`;
/* As often as there is more to be done. */
async function whole(method, visitor, body) {
  for (let round = 0; round < ROUNDS; round += 1) if (!(await call(method, path(visitor), { body })).body.left) return;
}

/* Others who have written: one row a person, those first whose id is what is looked for. */
async function others(query, visitor) {
  const asked = [`/v2/conversations?${new URLSearchParams({ limit: MOST, ...(query && { q: query }) })}`];
  if (/^[\w-]{1,64}$/.test(query)) asked.unshift(`/v2/conversations?${new URLSearchParams({ visitor: query, limit: 1 })}`);
  const found = (await Promise.all(asked.map(get))).flatMap(({ items }) => items);
  const people = new Map();
  for (const one of found) if (one.visitor?.id && one.visitor.id !== visitor && !people.has(one.visitor.id)) people.set(one.visitor.id, one);
  return [...people.values()];
}

/* Gives whether they were merged; raises Problem. */
export function merge({ visitor }) {
  return new Promise((resolve, reject) => {
    let chosen = null, pause = 0, asked = 0, done = () => resolve(false);
    const told = make("p", { class: "hint", role: "status" });
    const people = make("div", { class: "people", role: "radiogroup", "aria-label": say("mergeTitle") });
    const yes = button(say("merge"), () => {
      done = () => whole("POST", visitor.id, { into: chosen.visitor.id }).then(() => resolve(true), reject);
      dialog.close();
    }, { class: "primary", disabled: true });
    const choose = (one) => {
      chosen = one;
      yes.disabled = false;
      told.textContent = say("mergeHint", { to: nameOf(one) });
    };
    const row = (one) => make("label", {},
      make("input", { type: "radio", name: "person", value: one.visitor.id, checked: one.visitor.id === chosen?.visitor.id, onchange: () => choose(one) }),
      make("span", {},
        make("span", { class: "top" }, make("b", { dir: "auto" }, nameOf(one)), one.visitor.plan && make("span", { class: "chip" }, one.visitor.plan),
          make("time", { datetime: one.lastMessage?.createdAt || one.startedAt }, moment(one.lastMessage?.createdAt || one.startedAt))),
        make("small", { dir: "auto" }, [one.visitor.email, one.visitor.page?.title || one.visitor.page?.url, one.lastMessage?.text.slice(0, 80)].filter(Boolean).join(" · "))));
    const look = async () => {
      const mine = asked += 1;
      try {
        const found = await others(field.value.trim(), visitor.id);
        if (mine !== asked) return;
        // Who is no longer in the list is not chosen: nobody is merged with somebody they do not see.
        if (chosen && !found.some((one) => one.visitor.id === chosen.visitor.id)) { chosen = null; yes.disabled = true; }
        people.replaceChildren(...found.map(row));
        if (!chosen) told.textContent = found.length ? "" : say("mergeNobody");
      } catch (error) { told.textContent = error.message; }
    };
    const field = make("input", { type: "search", "aria-label": say("mergeFind"), placeholder: say("mergeFind"), maxlength: "200",
      oninput: () => { clearTimeout(pause); pause = setTimeout(look, PAUSE); } });
    const dialog = make("dialog", { class: "merge", "aria-labelledby": "merge-title", onclose: () => { clearTimeout(pause); dialog.remove(); done(); } },
      make("h2", { id: "merge-title" }, say("mergeTitle")), field, people, told,
      make("p", { class: "row end" }, button(say("no"), () => dialog.close(), {}), yes));
    document.body.append(dialog);
    dialog.showModal();
    look();
  });
}

/* The same, the other way. */
export async function separate(view) {
  if (!await ask(say("separateTitle", { to: nameOf(view) }), say("separateHint"), say("separate"))) return false;
  await whole("DELETE", view.visitor.was);
  return true;
}
