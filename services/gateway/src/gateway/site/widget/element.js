/* The element: the launcher, and the panel around one person's chat. */
import { Chat } from "./chat.js";
import { palette } from "./colors.js";
import { button, icon, make } from "./dom.js";
import { extras, loadExtras } from "./extras.js";
import { Visitor, look } from "./identities.js";
import { locale, words } from "./i18n.js";
import { host, present } from "./settings.js";
import { STYLE } from "./style.js";

const DARK = matchMedia("(prefers-color-scheme: dark)");
const PAIRS = CSS.supports("color", "light-dark(red, red)");
const PAIR = /light-dark\(((?:[^(),]|\([^()]*\))+), *((?:[^()]|\([^()]*\))+)\)/g;
const SMALL = matchMedia("(max-width: 480px), (max-height: 480px)");

export class NexusChat extends HTMLElement {
  #unread = 0; #sheet; #root; #spoken = 0; #started = false; #scrolled = null; #brand = ""; #style = STYLE;

  connectedCallback() {
    if (this.#root) return;
    this.#root = this.attachShadow({ mode: "open" });
    this.#sheet = new CSSStyleSheet(); // allowed by every content security policy
    this.#root.adoptedStyleSheets = [this.#sheet];
    DARK.addEventListener("change", () => this.#dress());
    extras(({ style }) => { this.#style += style; this.#dress(); });
    this.lang = locale;
    this.dataset.side = host.side;
    this.theme(host.theme);
    this.#color(host.color);
    this.badge = make("span", { class: "badge", hidden: true });
    this.launcher = button("", () => this.toggle(), { class: "launch", "aria-expanded": "false", hidden: !host.launcher }, icon("chat"), icon("down"), this.badge);
    this.live = make("div", { class: "unseen", role: "status" });
    this.panel = make("section", { class: "panel", role: "dialog", "aria-label": host.title, hidden: true, onkeydown: (event) => this.#key(event) });
    this.#root.append(this.panel, this.launcher, this.live);
    this.#label();
    SMALL.addEventListener("change", () => this.#modal());
    if (window.visualViewport) for (const kind of ["resize", "scroll"]) visualViewport.addEventListener(kind, () => this.#fit());
    document.addEventListener("visibilitychange", () => this.chat && this.chat.seen());
    this.settle(new Visitor());
    this.#settings();
  }
  get isOpen() { return !this.panel.hidden; }

  /* Gives the chat to this person. */
  settle(identity) {
    if (this.chat) this.chat.end();
    this.#count(0);
    this.chat = new Chat(identity, {
      announce: (text) => this.#announce(text), unread: (text) => this.#told(text), isOpen: () => this.isOpen && !document.hidden,
      assisted: (ai) => this.#assisted(ai),
      emit: (name, detail) => {
        if (detail.state === "ready") this.#settings(); // changes made meanwhile were not announced
        this.emit(name, detail);
      },
    });
    const head = make("div", { class: "head" }, this.chat.face, make("div", { class: "title" }, make("h2", {}, host.title), this.chat.status),
      button("", () => this.#topics(identity, head), { class: "quiet", "aria-label": words.topics, title: words.topics }, icon("chat")),
      button("", () => this.toggle(false), { class: "quiet", "aria-label": words.closeChat, title: words.closeChat }, icon("close")));
    this.panel.replaceChildren(head, ...this.chat.nodes);
    const { thread } = this.chat;
    extras(({ older }) => older(identity, thread));
    if (this.assisted === false) this.chat.assisted(false);
    if (this.#started) this.#begin();
  }
  async #topics(identity, head) {
    if (!await loadExtras()) return this.chat.thread.notice(words.notNow, "warning");
    extras(({ Topics }) => {
      if (!head.topics) {
        head.topics = new Topics(identity, this.chat.thread, () => this.chat.outbox.size > 0, () => { this.settle(identity); this.chat.composer.input.focus(); });
        head.after(head.topics.node);
      }
      head.topics.toggle();
    });
  }
  /* The page has said who the reader is, if it does. */
  start() {
    if (this.#started) return;
    this.#started = true;
    if (!this.chat.over) this.#begin();
  }
  #begin() {
    if (this.chat.identity.kept.here("open")) this.toggle(true, false);
    else if (this.isOpen || this.chat.pressing) {
      if (this.isOpen) this.chat.identity.kept.setHere("open", "yes");
      this.chat.net.open();
    }
  }

  toggle(open = !this.isOpen, focus = true) {
    const changed = open !== this.isOpen;
    this.panel.hidden = !open;
    this.chat.identity.kept.setHere("open", open ? "yes" : "");
    this.#count(open ? 0 : this.#unread);
    this.#modal();
    if (changed) this.emit(open ? "open" : "close");
    if (open) { this.chat.net.open(); this.chat.composer.fit(); this.chat.thread.toEnd(true); this.chat.seen(); }
    if (focus) (open ? this.chat.composer.input : this.launcher).focus();
  }
  theme(name) {
    if (name === "auto") delete this.dataset.theme; else this.dataset.theme = name;
    this.#dress();
  }
  /* Browsers without light-dark() (Safari before 17.5) get one of each pair. */
  #dress() {
    this.#sheet?.replaceSync(this.#plain(this.#style));
    if (!PAIRS) this.#color(this.#brand);
  }
  #plain(style) {
    const dark = this.dataset.theme ? this.dataset.theme === "dark" : DARK.matches;
    return PAIRS ? style : style.replace(PAIR, dark ? "$2" : "$1");
  }
  emit(name, detail) { this.dispatchEvent(new CustomEvent(`nexus:${name}`, { detail, bubbles: true, composed: true })); }

  #told(text) {
    if (this.isOpen && !document.hidden) return;
    this.#count(this.#unread + 1);
    if (text && !this.isOpen) extras(({ bubble }) => bubble(this, text));
  }
  #count(number) {
    if (number !== this.#unread) { this.#unread = number; this.emit("unread", number); }
    this.badge.hidden = !number;
    this.badge.textContent = number > 9 ? "9+" : number;
    this.#label();
  }
  #label() {
    const open = this.isOpen;
    this.launcher.setAttribute("aria-expanded", String(open));
    this.launcher.setAttribute("aria-label", open ? words.closeChat : this.#unread ? `${words.openChat} (${this.#unread})` : words.openChat);
  }
  #announce(text) {
    if (!this.isOpen) return;
    // Two nodes in turn, so that a repeated text is announced again.
    this.live.replaceChildren(make("p", { "data-turn": String(this.#spoken++ % 2) }, text.slice(0, 1500)));
  }

  /* On a small screen the open chat covers the page, which is then out of reach. */
  #modal() {
    const isModal = SMALL.matches && this.isOpen;
    this.panel.classList.toggle("whole", isModal);
    if (isModal) this.panel.setAttribute("aria-modal", "true");
    else this.panel.removeAttribute("aria-modal");
    this.launcher.classList.toggle("covered", isModal);
    this.#still(isModal);
    this.#fit();
  }
  /* The covered page does not scroll. */
  #still(on) {
    const { style } = document.documentElement;
    if (on && this.#scrolled === null) { this.#scrolled = style.overflow; style.overflow = "hidden"; }
    else if (!on && this.#scrolled !== null) { style.overflow = this.#scrolled; this.#scrolled = null; }
  }
  #fit() { // an on-screen keyboard makes the panel smaller and does not cover the field
    const view = window.visualViewport;
    if (!view || !this.panel.classList.contains("whole")) return this.panel.removeAttribute("style");
    this.panel.style.height = `${view.height}px`;
    this.panel.style.top = `${view.offsetTop}px`;
  }
  #key(event) {
    if (event.key === "Escape") { event.stopPropagation(); return this.toggle(false); }
    if (event.key !== "Tab" || !this.panel.classList.contains("whole")) return;
    const stops = [...this.panel.querySelectorAll("button, a[href], textarea, input, summary, [tabindex='0']")].filter((stop) => !stop.disabled && stop.checkVisibility());
    const first = stops[0], last = stops[stops.length - 1], focused = this.#root.activeElement;
    if (event.shiftKey ? focused === first : focused === last) { event.preventDefault(); (event.shiftKey ? last : first).focus(); }
  }

  /* The company's choices: its colour, and whether the AI answers. Without them the chat works as well. */
  async #settings() {
    try {
      const answer = await look();
      if (!answer.ok) return;
      const { brandColor, ai, assistant, proactive: rules } = await answer.json();
      if (!host.color) this.#color(brandColor);
      present(assistant);
      this.panel.setAttribute("aria-label", host.title);
      this.panel.querySelector("h2").textContent = host.title;
      this.chat.presented();
      this.#assisted(ai);
      if (rules?.length && !this.proactive) {
        this.proactive = true;
        loadExtras();
        extras(({ proactive }) => proactive(this, rules));
      }
    } catch { /* offline: they are read again when the chat connects */ }
  }
  #assisted(ai) { this.assisted = ai; this.chat.assisted(ai); }
  #color(color) {
    this.#brand = color;
    for (const [name, value] of Object.entries(palette(color) || {})) this.style.setProperty(name, this.#plain(value));
  }
}
