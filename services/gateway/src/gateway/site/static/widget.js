/* The chat widget: one script tag, one custom element in a shadow root, no framework, no build step.
   <script src="https://chat.example/widget.js" data-company="acme" data-locale="es" defer></script>
   Whatever people, pages or models write is shown as text: nothing here ever becomes markup. */
(() => {
  "use strict";

  const script = document.currentScript;
  const server = new URL(script.dataset.server || script.src, location.href).origin;
  const company = script.dataset.company || "demo";
  const locale = (script.dataset.locale || document.documentElement.lang || "es").toLowerCase();
  const KEY = `nexus:${server}:${company}`;
  const FINAL = (code) => code >= 4500 && code < 5000;

  const WORDS = {
    en: {
      open: "Open the chat", close: "Close the chat", title: "Assistant", about: "You are talking to an AI.",
      hint: "Write a message…", send: "Send", stop: "Stop", person: "Talk to a person", retry: "Try again",
      sending: "sending…", sent: "sent", failed: "not sent", connecting: "Connecting…",
      offline: "You are offline. What you write is sent when you are back.", gone: "The chat is not available now.",
      waiting: "A person was asked for. Please wait.", human: "You are talking to ", someone: "a person",
      typing: "is writing…", thinking: "Thinking…", up: "Good answer", down: "Bad answer", sources: "Read: ",
      cancelled: "Stopped.", problem: "Something went wrong. Please try again.", log: "Conversation",
      you: "You", assistant: "Assistant", operator: "Agent", system: "Notice",
    },
    es: {
      open: "Abrir el chat", close: "Cerrar el chat", title: "Asistente", about: "Estás hablando con una IA.",
      hint: "Escribe un mensaje…", send: "Enviar", stop: "Parar", person: "Hablar con una persona",
      retry: "Reintentar", sending: "enviando…", sent: "enviado", failed: "no enviado", connecting: "Conectando…",
      offline: "Estás sin conexión. Lo que escribas se enviará cuando vuelvas.", gone: "El chat no está disponible ahora.",
      waiting: "Se ha pedido una persona. Espera, por favor.", human: "Estás hablando con ", someone: "una persona",
      typing: "está escribiendo…", thinking: "Pensando…", up: "Buena respuesta", down: "Mala respuesta",
      sources: "Leído: ", cancelled: "Parado.", problem: "Algo ha fallado. Inténtalo de nuevo.", log: "Conversación",
      you: "Tú", assistant: "Asistente", operator: "Agente", system: "Aviso",
    },
  };
  const words = WORDS[locale.split("-")[0]] || WORDS.es;

  const STYLE = `
    :host { all: initial; --accent: #0b6b5d; --ink: #16202c; --paper: #fff; --soft: #f0efea; --line: #d5d1c6;
      font: 15px/1.5 system-ui, sans-serif; color: var(--ink); }
    @media (prefers-color-scheme: dark) {
      :host { --accent: #2f9d8a; --ink: #e8e6e0; --paper: #1a1f26; --soft: #262d36; --line: #3a434e; } }
    * { box-sizing: border-box; font: inherit; color: inherit; }
    button { cursor: pointer; border: 1px solid var(--line); background: var(--paper); border-radius: 8px; padding: .35rem .7rem; }
    button:focus-visible, textarea:focus-visible, a:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
    [hidden] { display: none !important; }
    .launch { position: fixed; right: 1rem; bottom: 1rem; z-index: 2147483000; width: 3.5rem; height: 3.5rem; border-radius: 50%;
      border: 0; background: var(--accent); color: #fff; box-shadow: 0 4px 16px #0005; font-size: 1.5rem; }
    .panel { position: fixed; right: 1rem; bottom: 5.25rem; z-index: 2147483000; width: min(24rem, calc(100vw - 2rem));
      height: min(36rem, calc(100dvh - 6.5rem)); display: flex; flex-direction: column; background: var(--paper);
      border: 1px solid var(--line); border-radius: 14px; box-shadow: 0 8px 40px #0004; overflow: hidden; }
    .head { padding: .7rem 1rem; background: var(--accent); color: #fff; }
    .head strong { display: block; font-weight: 650; }
    .state { padding: .3rem 1rem; background: var(--soft); font-size: .85rem; }
    .log { flex: 1; overflow-y: auto; padding: 1rem; display: flex; flex-direction: column; gap: .6rem; }
    .message { max-width: 88%; align-self: flex-start; }
    .message.mine { align-self: flex-end; }
    .bubble { padding: .5rem .8rem; border-radius: 12px; background: var(--soft); white-space: pre-wrap; overflow-wrap: anywhere; }
    .mine .bubble { background: var(--accent); color: #fff; }
    .system .bubble { background: none; border: 1px dashed var(--line); font-size: .9rem; }
    .meta { font-size: .78rem; opacity: .8; padding: .1rem .3rem; display: flex; flex-wrap: wrap; gap: .4rem; align-items: center; }
    .meta button { font-size: .78rem; padding: .05rem .4rem; }
    .meta button[aria-pressed=true] { border-color: var(--accent); border-width: 2px; }
    .meta svg { vertical-align: middle; }
    .meta a { color: inherit; border: 1px solid var(--line); border-radius: 999px; padding: 0 .5rem; }
    .who { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
    form { display: flex; gap: .5rem; padding: .6rem; border-top: 1px solid var(--line); align-items: flex-end; }
    textarea { flex: 1; resize: none; height: 2.6rem; max-height: 8rem; padding: .5rem; border: 1px solid var(--line); border-radius: 8px;
      background: var(--paper); font-size: 16px; }
    form button { background: var(--accent); color: #fff; border-color: var(--accent); min-height: 2.6rem; }
    .tools { display: flex; gap: .5rem; padding: 0 .6rem .6rem; }
    .tools button { font-size: .85rem; }
    @media (max-width: 30rem) { .panel { right: 0; bottom: 0; width: 100vw; height: 100dvh; border-radius: 0; }
      .panel:not([hidden]) + .launch { bottom: auto; top: .5rem; width: 2.5rem; height: 2.5rem; } }`;

  const make = (tag, attributes = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (value !== false && value != null) node.setAttribute(name, value === true ? "" : value);
    }
    node.append(...children);
    return node;
  };
  const SVG = "http://www.w3.org/2000/svg";
  const icon = (shape, turned = false) => { // drawn, since not every machine has emoji
    const svg = document.createElementNS(SVG, "svg"), path = document.createElementNS(SVG, "path");
    for (const [name, value] of Object.entries({ viewBox: "0 0 24 24", width: "1.2em", height: "1.2em", fill: "currentColor", "aria-hidden": "true" })) svg.setAttribute(name, value);
    if (turned) svg.setAttribute("transform", "rotate(180)");
    path.setAttribute("d", shape);
    svg.append(path);
    return svg;
  };
  const CHAT = "M4 4h16v12H10l-6 5z", THUMB = "M3 10h4v11H3zM9 21h8l4-8v-3h-7l1-6-2-1-4 6z";
  const load = () => { try { return JSON.parse(localStorage.getItem(KEY)) || {}; } catch { return {}; } };
  const save = (changes) => {
    Object.assign(kept, changes);
    try { localStorage.setItem(KEY, JSON.stringify(kept)); } catch { /* private mode: this page alone remembers */ }
  };
  const kept = load();
  kept.outbox ||= [];

  /* The connection: hello, heartbeat, reconnecting with what was seen last. */
  class Connection {
    constructor(onFrame, onState) {
      this.onFrame = onFrame; this.onState = onState; this.cursor = null; this.tries = 0; this.wanted = false; this.ready = false;
      addEventListener("online", () => this.ready ? this.onState("ready") : this.wanted && this.open());
      addEventListener("offline", () => this.onState("offline"));
    }
    async open() {
      this.wanted = true;
      if (this.opening || (this.socket && this.socket.readyState < 2)) return;
      clearTimeout(this.timer);
      this.onState(navigator.onLine === false ? "offline" : "connecting");
      this.opening = true;
      try { await this.#token(); this.#connect(); } catch (error) { error.final ? this.onState("gone") : this.#later(); }
      finally { this.opening = false; }
    }
    send(type, fields = {}) {
      if (this.ready) this.socket.send(JSON.stringify({ v: 1, type, ...fields }));
      return this.ready;
    }
    async #token() {
      if (kept.token && Date.parse(kept.expiresAt) - Date.now() > 60_000) return;
      const headers = { "content-type": "application/json" };
      if (kept.token) headers.authorization = `Bearer ${kept.token}`;
      const body = JSON.stringify({ companyId: company, locale, page: page() });
      const answer = await fetch(`${server}/v2/visitors`, { method: "POST", headers, body });
      if (answer.status === 401 && kept.token) { save({ token: null, conversationId: null }); return this.#token(); }
      if (!answer.ok) throw Object.assign(new Error("no token"), { final: answer.status === 403 || answer.status === 404 });
      const made = await answer.json();
      save({ token: made.token, expiresAt: made.expiresAt, visitorId: made.visitorId });
    }
    #connect() {
      const socket = this.socket = new WebSocket(`${server.replace(/^http/, "ws")}/v2/chat/ws`);
      socket.onopen = () => {
        const hello = { v: 1, type: "hello", token: kept.token, locale, page: page() };
        if (kept.conversationId) hello.conversationId = kept.conversationId;
        if (this.cursor && kept.conversationId) hello.since = this.cursor;
        socket.send(JSON.stringify(hello));
      };
      socket.onmessage = (event) => { if (socket === this.socket) this.#frame(JSON.parse(event.data)); };
      socket.onclose = (event) => { if (socket === this.socket) this.#closed(event.code); };
    }
    #frame(frame) {
      this.missed = 0;
      if (frame.type === "welcome") {
        this.ready = true; this.tries = 0;
        save({ conversationId: frame.conversationId });
        clearInterval(this.beat);
        this.beat = setInterval(() => this.#heartbeat(), frame.heartbeatMs || 25_000);
        this.onState("ready");
      } else if (frame.type === "error" && !this.ready) {
        if (frame.code === "NOT_FOUND") { save({ conversationId: null }); this.cursor = null; this.socket.close(); }
        else if (frame.retryable) this.socket.close();
      }
      this.onFrame(frame);
      const seq = frame.type === "message.created" ? frame.message.seq : frame.seq;
      if (frame.type === "snapshot") this.cursor = { epoch: frame.epoch, seq: frame.seq };
      else if (frame.type === "welcome") { if (this.cursor) this.cursor.epoch = frame.epoch; }
      else if (this.cursor && frame.type !== "message.ack" && seq > this.cursor.seq) this.cursor.seq = seq;
    }
    #heartbeat() {
      if ((this.missed = (this.missed || 0) + 1) > 2) { const lost = this.socket; this.#closed(1006); lost.close(); } else this.send("ping");
    }
    #closed(code) {
      this.ready = false; this.socket = null; clearInterval(this.beat);
      if (code === 4005) save({ expiresAt: new Date(0).toISOString() });
      if (code === 4500 && kept.token) save({ token: null, conversationId: null });
      else if (FINAL(code)) { this.wanted = false; return this.onState("gone"); }
      this.#later();
    }
    #later() {
      this.onState(navigator.onLine === false ? "offline" : "connecting");
      const wait = Math.min(30_000, 500 * 2 ** this.tries++) * (0.5 + Math.random() / 2);
      this.timer = setTimeout(() => this.wanted && this.open(), wait);
    }
  }
  const page = () => ({ url: location.href.slice(0, 2048), title: document.title.slice(0, 300) });

  /* The element. */
  class NexusChat extends HTMLElement {
    #nodes = new Map(); #drafts = new Map(); #turn = null; #rated = new Map();
    connectedCallback() {
      if (this.shadowRoot) return;
      const root = this.attachShadow({ mode: "open" });
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(STYLE);
      root.adoptedStyleSheets = [sheet];
      this.state = make("div", { class: "state", role: "status", hidden: true });
      this.log = make("div", { class: "log", role: "log", "aria-live": "polite", "aria-label": words.log, tabindex: "0" });
      this.status = make("div", { class: "state", role: "status", hidden: true });
      this.input = make("textarea", { "aria-label": words.hint, placeholder: words.hint, maxlength: "8000", rows: "1",
        oninput: () => this.#typing(), onkeydown: (event) => {
          if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); this.#submit(); } } });
      const form = make("form", { onsubmit: (event) => { event.preventDefault(); this.#submit(); } },
        this.input, make("button", { type: "submit" }, words.send));
      this.stop = make("button", { type: "button", hidden: true, onclick: () => this.net.send("run.cancel", { turnId: this.#turn }) }, words.stop);
      this.person = make("button", { type: "button", onclick: () => this.net.send("handoff.request") }, words.person);
      const title = make("strong", {}, words.title);
      this.panel = make("section", { class: "panel", role: "dialog", "aria-label": words.title, hidden: true,
        onkeydown: (event) => { if (event.key === "Escape") this.#toggle(false); } },
        make("div", { class: "head" }, title, words.about), this.state, this.log, this.status, form,
        make("div", { class: "tools" }, this.stop, this.person));
      this.launch = make("button", { class: "launch", type: "button", "aria-label": words.open, "aria-expanded": "false",
        onclick: () => this.#toggle(this.panel.hidden) }, icon(CHAT));
      root.append(this.panel, this.launch);
      this.net = new Connection((frame) => this.#frame(frame), (state) => this.#connection(state));
      for (const entry of kept.outbox) this.#pending(entry);
      if (kept.open) this.#toggle(true, false);
    }
    #toggle(open, focus = true) {
      this.panel.hidden = !open;
      this.launch.setAttribute("aria-expanded", String(open));
      this.launch.setAttribute("aria-label", open ? words.close : words.open);
      save({ open });
      if (open) this.net.open();
      if (focus) (open ? this.input : this.launch).focus();
    }
    #connection(state) {
      this.state.hidden = state === "ready";
      this.state.textContent = state === "ready" ? "" : words[state];
      if (state === "ready") for (const entry of kept.outbox) this.#transmit(entry);
    }
    #submit() {
      const text = this.input.value.trim();
      if (!text) return;
      this.input.value = "";
      const entry = { id: crypto.randomUUID ? crypto.randomUUID() : uuid(), text, tried: false };
      save({ outbox: [...kept.outbox, entry] });
      this.#pending(entry);
      this.#transmit(entry);
    }
    #transmit(entry) {
      const sent = this.net.send("message.send", { clientMessageId: entry.id, text: entry.text, ...(entry.tried && { retry: true }) });
      if (sent && !entry.tried) { entry.tried = true; save({}); }
    }
    #typing() {
      const now = Date.now();
      if (now - (this.typed || 0) > 3000 && this.net.send("typing")) this.typed = now;
    }
    #pending(entry) {
      const node = this.#message(entry.id, { role: "visitor", text: entry.text });
      this.#meta(node, words.sending);
    }
    #settled(id) { save({ outbox: kept.outbox.filter((entry) => entry.id !== id) }); }
    #failed(entry, frame) {
      const node = this.#nodes.get(entry.id);
      if (frame.retryable) { setTimeout(() => this.#transmit(entry), frame.retryAfterMs || 2000); return; }
      this.#settled(entry.id);
      const again = make("button", { type: "button", onclick: () => {
        save({ outbox: [...kept.outbox, entry] }); this.#meta(node, words.sending); this.#transmit(entry); } }, words.retry);
      this.#meta(node, `${words.failed}: ${frame.message}`, again);
    }
    #frame(frame) {
      switch (frame.type) {
        case "welcome": this.#owner(frame.owner); this.#resumeTurn(frame.activeTurn); break;
        case "snapshot": this.#snapshot(frame.messages); break;
        case "message.created": this.#created(frame.message); break;
        case "message.ack": this.#acked(frame.clientMessageId); break;
        case "run.started": this.#turn = frame.turnId; this.#draft(frame.messageId, "", 0); this.#busy(words.thinking); break;
        case "message.delta": this.#delta(frame); break;
        case "tool.started": this.#busy(frame.label); break;
        case "tool.finished": this.#busy(words.thinking); break;
        case "run.finished": this.#idle(); break;
        case "run.cancelled": this.#dropDraft(); this.#idle(frame.reason === "user" ? words.cancelled : ""); break;
        case "run.error": this.#dropDraft(); this.#idle(); break;
        case "owner.changed": this.#owner(frame.owner); break;
        case "typing": this.#othersTyping(frame); break;
        case "error": this.#error(frame); break;
      }
    }
    #snapshot(messages) {
      for (const node of this.#nodes.values()) node.remove();
      this.#nodes.clear();
      for (const message of messages) this.#created(message);
      for (const entry of kept.outbox) this.#pending(entry);
    }
    #created(message) {
      const mine = message.role === "visitor" || message.role === "user";
      if (message.clientMessageId && mine) this.#acked(message.clientMessageId);
      const key = mine && message.clientMessageId ? message.clientMessageId : message.id;
      const draft = this.#drafts.get(message.id);
      if (draft) { draft.node.remove(); this.#drafts.delete(message.id); this.#idle(); }
      const node = this.#message(key, message);
      if (mine) this.#meta(node, words.sent);
      else this.#about(node, message);
    }
    #acked(id) {
      const node = this.#nodes.get(id);
      this.#settled(id);
      if (node) this.#meta(node, words.sent);
    }
    #message(key, message) {
      const known = this.#nodes.get(key);
      if (known) { known.querySelector(".bubble").textContent = message.text; return known; }
      const mine = message.role === "visitor" || message.role === "user";
      const node = make("div", { class: `message ${mine ? "mine" : message.role}` },
        make("span", { class: "who" }, `${mine ? words.you : words[message.role] || ""}: `),
        make("div", { class: "bubble", dir: "auto" }, message.text), make("div", { class: "meta" }));
      this.#nodes.set(key, node);
      this.log.append(node);
      this.#scroll();
      return node;
    }
    #meta(node, ...parts) { node.querySelector(".meta").replaceChildren(...parts); }
    #about(node, message) {
      const parts = [];
      const links = (message.citations || []).filter((one) => /^https?:/.test(one.url));
      if (links.length) parts.push(words.sources, ...links.map((one) => make("a", { href: one.url, target: "_blank", rel: "noopener noreferrer" }, one.title || one.url)));
      if (message.role === "assistant") parts.push(this.#thumb(message.id, "up"), this.#thumb(message.id, "down"));
      this.#meta(node, ...parts);
    }
    #thumb(messageId, rating) {
      return make("button", { type: "button", "aria-label": words[rating], "aria-pressed": String(this.#rated.get(messageId) === rating),
        onclick: (event) => { if (!this.net.send("feedback", { messageId, rating })) return;
          this.#rated.set(messageId, rating);
          for (const button of event.currentTarget.parentNode.querySelectorAll("button")) button.setAttribute("aria-pressed", String(button === event.currentTarget)); } }, icon(THUMB, rating === "down"));
    }
    #resumeTurn(turn) {
      this.#dropDraft(); this.#idle();
      if (!turn) return;
      this.#turn = turn.turnId;
      this.#draft(turn.messageId, turn.textSoFar, turn.deltaSeq + 1);
      this.#busy(words.thinking);
    }
    #draft(id, text, next) {
      this.#dropDraft();
      const node = make("div", { class: "message assistant", "aria-hidden": "true", hidden: !text }, make("div", { class: "bubble", dir: "auto" }, text));
      this.#drafts.set(id, { node, next });
      this.log.append(node);
      this.#scroll();
    }
    #delta(frame) {
      let draft = this.#drafts.get(frame.messageId);
      if (!draft && frame.deltaSeq === 0) { this.#turn = frame.turnId; this.#draft(frame.messageId, "", 0); draft = this.#drafts.get(frame.messageId); }
      if (!draft || frame.deltaSeq !== draft.next) return; // a piece is missing: the final message brings all of it
      draft.next += 1;
      draft.node.hidden = false;
      draft.node.firstChild.textContent += frame.delta;
      this.#busy("");
      this.#scroll();
    }
    #dropDraft() { for (const draft of this.#drafts.values()) draft.node.remove(); this.#drafts.clear(); }
    #busy(text) { this.stop.hidden = !this.#turn; this.#say(text); }
    #idle(text = "") { this.#turn = null; this.stop.hidden = true; this.#say(text); }
    #say(text) { this.status.hidden = !text; this.status.textContent = text; }
    #owner(owner) {
      const kind = owner ? owner.kind : "ai";
      this.person.hidden = kind !== "ai";
      if (kind === "ai") { if (this.owned) this.#say(""); } else this.#say(kind === "waiting" ? words.waiting : words.human + (owner.name || words.someone));
      this.owned = kind !== "ai";
    }
    #othersTyping(frame) {
      if (frame.actor !== "operator") return;
      this.#say(`${words.operator} ${words.typing}`);
      clearTimeout(this.typingTimer);
      this.typingTimer = setTimeout(() => this.#say(""), frame.expiresInMs);
    }
    #error(frame) {
      const entry = frame.ref && kept.outbox.find((one) => one.id === frame.ref);
      if (entry) this.#failed(entry, frame);
      else if (this.net.ready) this.#say(frame.message || words.problem);
    }
    #scroll() { this.log.scrollTop = this.log.scrollHeight; }
  }
  const uuid = () => {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    bytes[6] = (bytes[6] & 15) | 64; bytes[8] = (bytes[8] & 63) | 128;
    const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
  };

  if (!customElements.get("nexus-chat")) customElements.define("nexus-chat", NexusChat);
  if (!document.querySelector("nexus-chat")) document.body.append(document.createElement("nexus-chat"));
})();
