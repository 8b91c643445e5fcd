/* Puts the chat of your own Nexus into a page. A page has one chat; calls made before it has loaded are done when it has. */

const inBrowser = () => typeof window !== "undefined" && typeof document !== "undefined";

const LOOK = ["locale", "title", "greeting", "theme", "color", "position"];

/* Uses the queue of the script, whose calls are done before the chat begins. */
function call(name, ...args) {
  if (!inBrowser()) return undefined;
  window.Nexus ||= { q: [] };
  if (typeof window.Nexus[name] === "function") return window.Nexus[name](...args);
  window.Nexus.q.push([name, ...args]);
  return undefined;
}

export const nexus = Object.freeze({
  open: () => { call("open"); },
  close: () => { call("close"); },
  toggle: () => { call("toggle"); },
  send: (text) => { call("send", text); },
  identify: async (token) => { await call("identify", token); },
  forget: () => { call("forget"); },
  theme: (name) => { call("theme", name); },
  page: (about) => { call("page", about); },
  on: (name, listener) => {
    let heard = true;
    const stop = call("on", name, (event) => { if (heard) listener(event); });
    return () => { heard = false; stop?.(); };
  },
});

export function createNexus(options) {
  const { host, company, identify } = options;
  if (!company) throw new Error("createNexus: `company` is missing: your company's id, such as acme-rockets");
  const origin = originOf(host);
  if (!inBrowser()) return nexus;
  const existing = document.querySelector("script[src$='/widget.js'][data-company]");
  if (existing) {
    if (new URL(existing.src).origin === origin && existing.dataset.company === company) return nexus;
    throw new Error(`createNexus: this page has the chat of ${existing.dataset.company} already, from ${existing.src}`);
  }
  if (identify) nexus.identify(identify).catch((error) => console.error(error));
  load(origin, options);
  return nexus;
}

function originOf(host) {
  const url = /^https?:/.test(String(host)) ? new URL(host) : null;
  if (!url) throw new Error("createNexus: `host` is the address of your Nexus, such as https://chat.example.com");
  return url.origin;
}

function load(origin, options) {
  const script = document.createElement("script");
  script.src = `${origin}/widget.js`;
  script.async = true;
  script.dataset.company = options.company;
  for (const name of LOOK) if (options[name] !== undefined) script.dataset[name] = options[name];
  if (options.suggestions) script.dataset.suggestions = options.suggestions.join("|");
  if (options.launcher === false) script.dataset.launcher = "none";
  if (options.nonce) script.nonce = options.nonce;
  script.addEventListener("error", () => console.error(`createNexus: ${script.src} could not be loaded`));
  document.head.append(script);
}
