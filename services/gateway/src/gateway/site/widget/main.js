/* The chat widget: one script tag, one custom element in a shadow root, no framework.
   <script src="https://chat.example/widget.js" data-company="acme" defer></script>
   This file is the way in: it puts the element into the page and gives the page window.Nexus (docs/architecture/widget.md). */
import { Customer, Visitor } from "./identities.js";
import { NexusChat } from "./element.js";
import { company, onPage } from "./settings.js";

/* A page has one chat: its first tag's. A page that runs its scripts again (Turbo and the like) has it already. */
if (!customElements.get("nexus-chat")) {
  customElements.define("nexus-chat", NexusChat);

  /* Calls from before this script was there: the stub's, or an array's, each [name, ...arguments]. */
  const early = Array.isArray(window.Nexus) ? window.Nexus : (window.Nexus && window.Nexus.q) || [];
  const element = document.querySelector("nexus-chat") || document.createElement("nexus-chat");
  element.dataset.company = company;

  window.Nexus = Object.freeze({
    element,
    open: () => element.toggle(true),
    close: () => element.toggle(false, false),
    toggle: () => element.toggle(),
    send: (text) => { element.toggle(true); element.chat.say(String(text).trim().slice(0, 8000)); },
    /* A signed-in customer: a token, or a function that gives one and is asked again when it has expired. */
    identify: async (source) => {
      await ready;
      element.chat.end(); // nobody becomes a visitor while the page brings the token
      try {
        const token = await (typeof source === "function" ? source() : source);
        element.settle(new Customer(source, token));
      } catch (error) {
        element.settle(new Visitor());
        throw error;
      }
    },
    /* The customer has signed out: a visitor from now on. */
    forget: () => element.settle(new Visitor()),
    theme: (name) => element.theme(name),
    /* Where the reader is, in the page's own words; without them it is what the address and the title say. */
    page: (about) => onPage(about),
    on: (name, listener) => { element.addEventListener(`nexus:${name}`, listener); return () => element.removeEventListener(`nexus:${name}`, listener); },
  });

  let begin;
  const ready = new Promise((resolve) => {
    begin = () => {
      if (!element.isConnected) document.body.append(element);
      // A page that puts another body in place of this one (Turbo and the like) keeps its chat.
      new MutationObserver(() => { if (!element.isConnected && document.body) document.body.append(element); })
        .observe(document.documentElement, { childList: true });
      resolve();
      for (const [name, ...args] of early) if (typeof window.Nexus[name] === "function") window.Nexus[name](...args);
      dispatchEvent(new CustomEvent("nexus:ready"));
    };
  });
  if (document.body) begin();
  else addEventListener("DOMContentLoaded", begin, { once: true });
  // The page's own scripts come first: one of them may say who the reader is.
  const start = () => element.start();
  if (document.readyState === "complete") start();
  else for (const event of ["DOMContentLoaded", "load"]) addEventListener(event, start, { once: true });
} else if (document.querySelector("nexus-chat")?.dataset.company !== company) {
  console.error("Nexus: this page has another company's chat already");
}
