/* The console: signing in, the frame around the views, and choosing the view from the address (#/inbox/…). */
import { invited, finishReturn } from "./account.js";
import { call } from "./api.js";
import { Conversations } from "./conversations.js";
import { make, button } from "./dom.js";
import "./focus.js";
import { glyph } from "./glyphs.js";
import { nameOf, write } from "./inbox.js";
import { Live } from "./live.js";
import { Notices } from "./notices.js";
import { Presence } from "./presence.js";
import { session, isDevelopment, linked, takeFromOpenTab } from "./session.js";
import { signIn } from "./signin.js";
import { Unsent } from "./unsent.js";
import { VIEWS } from "./views.js";
import { LANGUAGES, language, ownName, say, speak } from "./i18n.js";

const root = document.getElementById("console");
let live = null, view = null, shownPage = null, lastAddress = "";

/* `reason`: why the session ended, shown at the sign-in. */
function start(reason = "") {
  stop();
  const user = session.who;
  const isExpired = user && user.expires < Date.now();
  if (!user || !["commercial", "admin"].includes(user.role) || isExpired || invited()) return signIn(root, start, isDevelopment, reason || (isExpired ? say("lineEnded") : ""));
  const stage = make("main", { class: "stage", id: "stage", tabindex: "-1" });
  const line = make("p", { class: "line", role: "status", hidden: true }, say("lineLost"));
  const fault = make("p", { class: "line", role: "alert", hidden: true });
  const queue = make("p", { class: "unseen", role: "status" });
  const inbox = new Conversations();
  const notices = new Notices(user);
  const presence = new Presence(() => view?.present?.());
  const unsent = new Unsent(user, (type, fields) => live.send(type, fields), () => live?.doubt(), (id, reason) => tell(reason, id));
  live = new Live(
    (frame) => { presence.frame(frame); inbox.frame(frame); unsent.frame(frame); view?.frame?.(frame); },
    (state) => { line.hidden = state !== "connecting"; if (state === "ready") unsent.again(); },
  );
  const close = () => { fault.hidden = true; };
  /* Shows a fault of a conversation that is no longer open. */
  const tell = (text, id) => {
    const listed = inbox.items.find((conversation) => conversation.id === id);
    fault.hidden = false;
    fault.replaceChildren(make("a", { href: `#/inbox/${encodeURIComponent(id)}`, onclick: close }, listed ? nameOf(listed) : id), `: ${text} `, button(say("close"), close, { class: "small" }));
  };
  const context = { live, inbox, presence, session, go, say, unsent, tell };
  root.replaceChildren(rail(user, notices), make("div", { class: "beside" }, line, fault, queue, stage));
  /* Conversations that wait for a person or have unread messages. */
  inbox.onCount = (waiting, unread) => {
    const count = Math.max(waiting, unread);
    write(document.head.querySelector("title"), `${count ? `(${count}) ` : ""}${say("title")}`);
    write(queue, `${say("stateNeeds")}: ${waiting}`);
  };
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
  const isFirstVisit = !location.hash;
  if (isFirstVisit) history.replaceState(null, "", "#/inbox");
  route();
  // An admin whose company has no settings, or whose chat no page has loaded yet, sees the first steps. The
  // demo company of a development server has no page of its own to put the chat on.
  if (isFirstVisit && session.isAdmin) {
    const isDemo = isDevelopment && user.company === "demo";
    const openFirstHour = () => { if (location.hash === "#/inbox") go("begin"); };
    call("GET", `/v2/companies/${user.company}`).then(({ body }) => !isDemo && body.name && !body.seen.length && openFirstHour(), (error) => error.status === 404 && openFirstHour());
  }
}

let stopped = () => {};
function stop() {
  view?.end?.();
  view = shownPage = null;
  live?.end();
  live = null;
  stopped();
  stopped = () => {};
}

/* A view is {path, title, glyph, admin?, open(stage, context, parts)}; open returns {frame?, again?, end?}. */
function show(stage, context) {
  const [address, query = ""] = location.hash.split("?");
  const [, path = "inbox", ...parts] = address.split("/").map(read);
  context.params = new URLSearchParams(query);
  const page = VIEWS.find((page) => page.path === path && (!page.admin || session.isAdmin)) || VIEWS[0];
  for (const link of root.querySelectorAll(".rail nav a")) {
    // The link of the view that is left leads back to where it was; the link of the open view leads to its start.
    if (link.dataset.path === page.path) link.href = `#/${page.path}`;
    else if (link.dataset.path === shownPage?.path) link.href = lastAddress;
    link.toggleAttribute("data-here", link.dataset.path === page.path);
    if (link.dataset.path === page.path) { link.setAttribute("aria-current", "page"); link.scrollIntoView({ block: "nearest", inline: "nearest" }); }
    else link.removeAttribute("aria-current");
  }
  lastAddress = location.hash;
  if (shownPage === page && view?.again) return view.again(parts);
  view?.end?.();
  shownPage = page;
  stage.replaceChildren();
  stage.scrollTop = 0;
  view = page.open(stage, context, parts) || {};
}
/* A decoded part of the address; an invalid one is left as it is. */
const read = (part) => { try { return decodeURIComponent(part); } catch { return part; } };
const go = (...parts) => { location.hash = `#/${parts.map(encodeURIComponent).join("/")}`; };

function rail(user, notices) {
  const links = VIEWS.filter((page) => !page.admin || session.isAdmin).map((page) =>
    make("li", {}, make("a", { href: `#/${page.path}`, "data-path": page.path, title: say(page.title) },
      glyph(page.glyph), make("span", {}, say(page.title)))));
  const theme = button(say("theme"), () => dress(), { class: "quiet", title: say("theme") }, glyph("theme"), make("span", {}, say("theme")));
  const others = LANGUAGES.filter((locale) => locale !== language);
  return make("header", { class: "rail" },
    make("a", { class: "skip", href: "#stage", onclick: (event) => { event.preventDefault(); document.getElementById("stage").focus(); } }, say("skip")),
    make("p", { class: "mark" }, glyph("mark"), make("span", {}, "Nexus")),
    make("nav", { "aria-label": say("sections") }, make("ul", {}, ...links)),
    make("div", { class: "foot" },
      theme,
      button("", () => notices.choose(), { class: "quiet", title: say("notices") }, glyph("bell"), make("span", {}, say("notices"))),
      ...others.map((locale) => button("", () => speak(locale), { class: "quiet", lang: locale, title: ownName(locale) },
        glyph("globe"), make("span", {}, ownName(locale)))),
      button("", () => { session.end(); start(); }, { class: "quiet", title: say("signOut") },
        glyph("leave"), make("span", {}, say("signOut"))),
      make("p", { class: "who", title: `${user.subject}, ${user.company}` },
        make("span", { class: "face", "aria-hidden": "true" }, (user.name || user.subject).slice(0, 1).toUpperCase()),
        make("span", {}, make("b", {}, user.name || user.subject), make("small", {}, `${say(`role_${user.role}`)} · ${user.company}`)))));
}

const THEME = "nexus.console.theme";
function dress(first = false) {
  const current = localStorage.getItem(THEME) || "system";
  const next = first ? current : { system: "light", light: "dark", dark: "system" }[current];
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
const fault = await finishReturn();
if (!fault && !invited()) await takeFromOpenTab();
start(fault);
