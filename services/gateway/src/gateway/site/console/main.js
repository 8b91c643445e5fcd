/* The console: signing in, the frame around the views, and which view the address names (#/inbox/…). */
import { invited, returned } from "./account.js";
import { call } from "./api.js";
import { Conversations } from "./conversations.js";
import { make, button } from "./dom.js";
import { glyph } from "./glyphs.js";
import { nameOf } from "./inbox.js";
import { Live } from "./live.js";
import { Notices } from "./notices.js";
import { Presence } from "./presence.js";
import { session, isDevelopment, linked } from "./session.js";
import { signIn } from "./signin.js";
import { Unsent } from "./unsent.js";
import { VIEWS } from "./views.js";
import { LANGUAGES, language, ownName, say, speak } from "./i18n.js";

const root = document.getElementById("console");
let live = null, view = null, shown = null, left = "";

/* `why`: what ended the session, told where one signs in. */
function start(why = "") {
  stop();
  const who = session.who;
  const old = who && who.expires < Date.now();
  if (!who || !["commercial", "admin"].includes(who.role) || old || invited()) return signIn(root, start, isDevelopment, why || (old ? say("lineEnded") : ""));
  const stage = make("main", { class: "stage", id: "stage", tabindex: "-1" });
  const line = make("p", { class: "line", role: "status", hidden: true }, say("lineLost"));
  const fault = make("p", { class: "line", role: "alert", hidden: true });
  const inbox = new Conversations();
  const notices = new Notices(who);
  const presence = new Presence(() => view?.present?.());
  const unsent = new Unsent(who, (type, fields) => live.send(type, fields), () => live?.doubt(), (id, why) => tell(why, id));
  live = new Live(
    (frame) => { presence.frame(frame); inbox.frame(frame); unsent.frame(frame); view?.frame?.(frame); },
    (state) => { line.hidden = state !== "connecting"; if (state === "ready") unsent.again(); },
  );
  const close = () => { fault.hidden = true; };
  /* Something was not done in a conversation that one has left. */
  const tell = (text, id) => {
    const known = inbox.items.find((one) => one.id === id);
    fault.hidden = false;
    fault.replaceChildren(make("a", { href: `#/inbox/${encodeURIComponent(id)}`, onclick: close }, known ? nameOf(known) : id), `: ${text} `, button(say("close"), close, { class: "small" }));
  };
  const context = { live, inbox, presence, session, go, say, unsent, tell };
  root.replaceChildren(rail(who, notices), make("div", { class: "beside" }, line, fault, stage));
  /* Who waits for a person, or has written something that one has not read. */
  inbox.onCount = (waiting, unread) => { const count = Math.max(waiting, unread); document.title = `${count ? `(${count}) ` : ""}${say("title")}`; };
  inbox.onCounted = () => notices.counted();
  const named = root.querySelector(".rail [data-path=named]");
  inbox.onNames((count) => {
    named.querySelector(".count")?.remove();
    if (count) named.append(make("b", { class: "count", "aria-label": say("namedNew", { count }) }, count > 9 ? "9+" : String(count)));
  });
  inbox.start();
  const route = () => show(stage, context);
  addEventListener("hashchange", route);
  stopped = () => { removeEventListener("hashchange", route); inbox.end(); notices.end(); presence.end(); unsent.end(); };
  const fresh = !location.hash;
  if (fresh) history.replaceState(null, "", "#/inbox");
  route();
  // A company without settings is a beginning, and one whose chat nobody has loaded yet: its admin is shown the first steps.
  if (fresh && session.isAdmin) {
    const begin = () => { if (location.hash === "#/inbox") go("begin"); };
    call("GET", `/v2/companies/${who.company}`).then(({ body }) => body.name && !body.seen.length && begin(), (error) => error.status === 404 && begin());
  }
}

let stopped = () => {};
function stop() {
  view?.end?.();
  view = shown = null;
  live?.end();
  live = null;
  stopped();
  stopped = () => {};
}

/* A view is {path, title, glyph, admin?, open(stage, context, rest)}; open gives {frame?, again?, end?}. */
function show(stage, context) {
  const [where, asked = ""] = location.hash.split("?");
  const [, path = "inbox", ...rest] = where.split("/").map(read);
  context.asked = new URLSearchParams(asked);
  const found = VIEWS.find((one) => one.path === path && (!one.admin || session.isAdmin)) || VIEWS[0];
  for (const link of root.querySelectorAll(".rail nav a")) {
    // A view that one leaves is left as it stands: its link leads back there, and once more pressed to its beginning.
    if (link.dataset.path === found.path) link.href = `#/${found.path}`;
    else if (link.dataset.path === shown?.path) link.href = left;
    link.toggleAttribute("data-here", link.dataset.path === found.path);
    if (link.dataset.path === found.path) { link.setAttribute("aria-current", "page"); link.scrollIntoView({ block: "nearest", inline: "nearest" }); }
    else link.removeAttribute("aria-current");
  }
  left = location.hash;
  if (shown === found && view?.again) return view.again(rest);
  view?.end?.();
  shown = found;
  stage.replaceChildren();
  stage.scrollTop = 0;
  view = found.open(stage, context, rest) || {};
}
/* A part of the address; one that is badly written stands for itself. */
const read = (part) => { try { return decodeURIComponent(part); } catch { return part; } };
const go = (...parts) => { location.hash = `#/${parts.map(encodeURIComponent).join("/")}`; };

function rail(who, notices) {
  const links = VIEWS.filter((one) => !one.admin || session.isAdmin).map((one) =>
    make("li", {}, make("a", { href: `#/${one.path}`, "data-path": one.path, title: say(one.title) },
      glyph(one.glyph), make("span", {}, say(one.title)))));
  const theme = button(say("theme"), () => dress(), { class: "quiet", title: say("theme") }, glyph("theme"), make("span", {}, say("theme")));
  const others = LANGUAGES.filter((one) => one !== language);
  return make("header", { class: "rail" },
    make("a", { class: "skip", href: "#stage", onclick: (event) => { event.preventDefault(); document.getElementById("stage").focus(); } }, say("skip")),
    make("p", { class: "mark" }, glyph("mark"), make("span", {}, "Nexus")),
    make("nav", { "aria-label": say("sections") }, make("ul", {}, ...links)),
    make("div", { class: "foot" },
      theme,
      button("", () => notices.choose(), { class: "quiet", title: say("notices") }, glyph("bell"), make("span", {}, say("notices"))),
      ...others.map((other) => button("", () => speak(other), { class: "quiet", lang: other, title: ownName(other) },
        glyph("globe"), make("span", {}, ownName(other)))),
      button("", () => { session.end(); start(); }, { class: "quiet", title: say("signOut") },
        glyph("leave"), make("span", {}, say("signOut"))),
      make("p", { class: "who", title: `${who.subject}, ${who.company}` },
        make("span", { class: "face", "aria-hidden": "true" }, (who.name || who.subject).slice(0, 1).toUpperCase()),
        make("span", {}, make("b", {}, who.name || who.subject), make("small", {}, `${say(`role_${who.role}`)} · ${who.company}`)))));
}

const THEME = "nexus.console.theme";
function dress(first = false) {
  const now = localStorage.getItem(THEME) || "system";
  const next = first ? now : { system: "light", light: "dark", dark: "system" }[now];
  localStorage.setItem(THEME, next);
  if (next === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = next;
}

addEventListener("signedout", () => start(say("lineEnded")));
dress(true);
linked();
addEventListener("hashchange", () => {
  if (!/^#(token|invite)=/.test(location.hash)) return;
  linked();
  start();
});
start(await returned());
