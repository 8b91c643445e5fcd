/* Words beside the closed chat: what has just been written to the reader, and what the company says to who stays on a page. */
import { button, icon, make } from "./dom.js";
import { locale, words } from "./i18n.js";

const LONGEST = 160, KEPT = 50;

/* One at a time, until it is put away or the chat is opened; pressed(): it is opened by these words. */
export function bubble(chat, text, pressed = () => {}) {
  const root = chat.panel.parentNode, gone = () => root.querySelector(".preview")?.remove();
  gone();
  chat.addEventListener("nexus:open", gone, { once: true });
  root.append(make("div", { class: "preview", role: "status" },
    button(text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text, () => { chat.toggle(true); pressed(); }, { class: "words", dir: "auto" }),
    button("", gone, { class: "quiet", "aria-label": words.dismiss, title: words.dismiss }, icon("close"))));
}

/* A path's beginning, or with * for anything; the cost is the path's length, whatever the rule says. */
function fits(page) {
  const [first, ...parts] = page.split("*"), last = parts.pop(), path = location.pathname;
  if (last === undefined) return path === page || path.startsWith(page.endsWith("/") ? page : `${page}/`);
  if (!path.startsWith(first)) return false;
  let at = first.length;
  for (const part of parts) {
    const found = path.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return path.endsWith(last) && path.length - last.length >= at;
}

/* The first that fits is said, once in this browser; never to somebody who has opened the chat. */
export function proactive(chat, rules) {
  let at = location.href, since = Date.now();
  const { kept } = chat.chat.identity;
  const timer = setInterval(() => {
    if (chat.isOpen || kept.get("conversation")) { clearInterval(timer); return; }
    if (location.href !== at) { at = location.href; since = Date.now(); }
    const said = kept.get("proactive") || [];
    const rule = rules.find(({ text, pages, afterSeconds, language }) => Date.now() - since >= afterSeconds * 1000 && !said.includes(text)
      && (!language || locale.startsWith(language)) && (!pages.length || pages.some(fits)));
    if (!rule || document.hidden) return;
    kept.set("proactive", [...said, rule.text].slice(-KEPT));
    bubble(chat, rule.text, () => chat.chat.greeting.before(make("p", { class: "greeting" }, rule.text)));
  }, 1000);
}
