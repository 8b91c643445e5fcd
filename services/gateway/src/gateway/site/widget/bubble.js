/* The bubble beside the closed chat: a message that just arrived, or what the company tells a visitor who stays on a
   page. */
import { button, icon, make } from "./dom.js";
import { locale, words } from "./i18n.js";

const LONGEST = 160, KEPT = 50;

/* Shows one bubble at a time, until it is closed or the chat is opened. pressed(): called when the reader opens the chat
   by it. */
export function bubble(chat, text, pressed = () => {}) {
  const root = chat.panel.parentNode, remove = () => root.querySelector(".preview")?.remove();
  remove();
  chat.addEventListener("nexus:open", remove, { once: true });
  root.append(make("div", { class: "preview", role: "status" },
    button(text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text, () => { chat.toggle(true); pressed(); }, { class: "words", dir: "auto" }),
    button("", remove, { class: "quiet", "aria-label": words.dismiss, title: words.dismiss }, icon("close"))));
}

/* Whether the path begins like the rule, or matches it with * for anything. The time grows only with the path's length. */
function fits(page) {
  const [first, ...parts] = page.split("*"), last = parts.pop(), path = location.pathname;
  if (last === undefined) return path === page || path.startsWith(page.endsWith("/") ? page : `${page}/`);
  if (!path.startsWith(first)) return false;
  let position = first.length;
  for (const part of parts) {
    const index = path.indexOf(part, position);
    if (index < 0) return false;
    position = index + part.length;
  }
  return path.endsWith(last) && path.length - last.length >= position;
}

/* Shows the first rule that matches, once in this browser; not to a reader who has opened the chat. */
export function proactive(chat, rules) {
  let address = location.href, since = Date.now();
  const { kept } = chat.chat.identity;
  const timer = setInterval(() => {
    if (chat.isOpen || kept.get("conversation")) { clearInterval(timer); return; }
    if (location.href !== address) { address = location.href; since = Date.now(); }
    const shown = kept.get("proactive") || [];
    const rule = rules.find(({ text, pages, afterSeconds, language }) => Date.now() - since >= afterSeconds * 1000 && !shown.includes(text)
      && (!language || locale.startsWith(language)) && (!pages.length || pages.some(fits)));
    if (!rule || document.hidden) return;
    kept.set("proactive", [...shown, rule.text].slice(-KEPT));
    bubble(chat, rule.text, () => chat.chat.greeting.before(make("p", { class: "greeting" }, rule.text)));
  }, 1000);
}
