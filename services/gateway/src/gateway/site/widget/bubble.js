/* Words beside the closed chat: what has just been written to the reader, and what the company says to who stays on a page. */
import { button, icon, make } from "./dom.js";
import { locale, words } from "./saying.js";

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

const fits = (page) => {
  const path = location.pathname;
  if (page.includes("*")) return new RegExp(`^${page.split("*").map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&")).join(".*")}$`).test(path);
  return path === page || path.startsWith(page.endsWith("/") ? page : `${page}/`);
};

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
