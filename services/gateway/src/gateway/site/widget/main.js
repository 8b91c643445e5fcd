/* The chat widget: one script tag, one custom element in a shadow root, no framework.
   <script src="https://chat.example/widget.js" data-company="acme" defer></script>
   This file is the entry: it puts the element into the page and defines window.Nexus (docs/architecture/widget.md). */
import { Customer, Visitor } from "./identities.js";
import { NexusChat } from "./element.js";
import { company, onPage } from "./settings.js";

/* A page has one chat, of its first tag. A page that runs its scripts again (Turbo and the like) already has it. */
if (!customElements.get("nexus-chat")) {
  customElements.define("nexus-chat", NexusChat);

  /* Calls made before this script was loaded, from the stub or an array: each is [name, ...arguments]. */
  const early = Array.isArray(window.Nexus) ? window.Nexus : (window.Nexus && window.Nexus.q) || [];
  const element = document.querySelector("nexus-chat") || document.createElement("nexus-chat");
  element.dataset.company = company;

  window.Nexus = Object.freeze({
    element,
    open: () => element.toggle(true),
    close: () => element.toggle(false, false),
    toggle: () => element.toggle(),
    send: (text) => { element.toggle(true); element.chat.say(String(text).trim().slice(0, 8000)); },
    /* Signs a customer in: a token, or a function that returns one and is called again when it has expired. */
    identify: async (source) => {
      await ready;
      element.chat.end(); // no visitor is made while the page gets the token
      try {
        const token = await (typeof source === "function" ? source() : source);
        element.settle(new Customer(source, token));
      } catch (error) {
        element.settle(new Visitor());
        throw error;
      }
    },
    /* Signs the customer out: the reader is a visitor again. */
    forget: () => element.settle(new Visitor()),
    theme: (name) => element.theme(name),
    /* Says where the reader is; otherwise the address and the title do. */
    page: (about) => onPage(about),
    on: (name, listener) => { element.addEventListener(`nexus:${name}`, listener); return () => element.removeEventListener(`nexus:${name}`, listener); },
  });

  let begin;
  const ready = new Promise((resolve) => {
    begin = () => {
      if (!element.isConnected) document.body.append(element);
      // If the page replaces its body (Turbo and the like), the chat stays.
      new MutationObserver(() => { if (!element.isConnected && document.body) document.body.append(element); })
        .observe(document.documentElement, { childList: true });
      resolve();
      for (const [name, ...args] of early) if (typeof window.Nexus[name] === "function") window.Nexus[name](...args);
      dispatchEvent(new CustomEvent("nexus:ready"));
    };
  });
  if (document.body) begin();
  else addEventListener("DOMContentLoaded", begin, { once: true });
  // Waits for the page's own scripts: one of them may say who the reader is.
  const start = () => element.start();
  if (document.readyState === "complete") start();
  else for (const event of ["DOMContentLoaded", "load"]) addEventListener(event, start, { once: true });
} else if (document.querySelector("nexus-chat")?.dataset.company !== company) {
  console.error("Nexus: this page has another company's chat already");
}
