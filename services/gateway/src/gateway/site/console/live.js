/* The human agent's socket: changes of the inbox and of the open conversation, also after a lost connection. */
import { pauseBefore } from "./returning.js";
import { session } from "./session.js";
import { language } from "./i18n.js";

const EXPIRED = 4005, BAD_TOKEN = 4500, NO_COMPANY = 4510, MAX_FOLLOWED = 50, OPENING_MS = 30_000;

export class Live {
  #socket = null; #ready = false; #tries = 0; #unanswered = 0; #heartbeat = 0; #timer = 0; #ended = false;
  #open = null; #followed = new Set(); #onFrame; #onState;

  /* onFrame(frame); onState("connecting" | "none" | "ready"); "none": the company has no settings yet. */
  constructor(onFrame, onState) {
    this.#onFrame = onFrame;
    this.#onState = onState;
    onState("connecting");
    addEventListener("online", this.#reconnectNow);
    addEventListener("offline", this.#dropConnection);
    this.#connect();
  }

  /* Follows one conversation; null: none. The newest messages are sent, and after a lost connection those since, or the
     newest again if `wantsAll` returns true. */
  follow(conversationId, wantsAll = () => false) {
    this.#open = conversationId && { conversationId, cursor: null, wantsAll };
    if (this.#followed.size >= MAX_FOLLOWED) this.#socket?.close();
    else this.#watch();
  }
  send(type, fields = {}) {
    if (!this.#ready) return false;
    this.#socket.send(JSON.stringify({ v: 1, type, ...fields }));
    if (type === "message.send") { this.#unanswered ||= 1; this.send("ping"); }
    return true;
  }
  /* If a message is not acknowledged and not even the ping after it was answered, the connection is lost. */
  doubt() { if (this.#unanswered) this.#dropConnection(); }
  end() {
    this.#ended = true;
    removeEventListener("online", this.#reconnectNow);
    removeEventListener("offline", this.#dropConnection);
    clearTimeout(this.#timer);
    clearInterval(this.#heartbeat);
    this.#socket?.close();
  }

  #reconnectNow = () => { if (!this.#ready) { this.#tries = 0; clearTimeout(this.#timer); this.#connect(); } };
  /* A connection known to be cut is dropped at once. */
  #dropConnection = () => { const cut = this.#socket; this.#socket = null; cut?.close(); this.#lost(0); };
  #connect() {
    this.#followed.clear();
    const earlier = this.#socket;
    this.#timer = setTimeout(this.#dropConnection, OPENING_MS);
    const socket = this.#socket = new WebSocket(`${location.origin.replace(/^http/, "ws")}/v2/chat/ws`);
    earlier?.close();
    socket.onopen = () => socket.send(JSON.stringify({ v: 1, type: "hello", token: session.token, locale: language }));
    socket.onmessage = (event) => { if (socket === this.#socket) this.#frame(JSON.parse(event.data)); };
    socket.onclose = (event) => { if (socket === this.#socket) this.#lost(event.code); };
  }
  #frame(frame) {
    this.#unanswered = 0;
    if (frame.type === "welcome" && !frame.conversationId) {
      this.#ready = true;
      this.#tries = 0;
      clearTimeout(this.#timer);
      clearInterval(this.#heartbeat);
      this.#heartbeat = setInterval(() => this.#ping(), frame.heartbeatMs);
      this.send("inbox.watch");
      this.#watch();
      this.#onState("ready");
      return;
    }
    const seq = frame.type === "message.created" ? frame.message.seq : frame.seq;
    if (this.#open && frame.conversationId === this.#open.conversationId && seq && frame.type !== "message.ack") {
      const epoch = frame.epoch || this.#open.cursor?.epoch;
      if (frame.type === "snapshot" || (this.#open.cursor && seq > this.#open.cursor.seq)) this.#open.cursor = { epoch, seq };
    }
    this.#onFrame(frame);
  }
  #watch() {
    if (!this.#ready || !this.#open) return;
    const { conversationId, cursor, wantsAll } = this.#open;
    this.#followed.add(conversationId);
    this.send("conversation.watch", { conversationId, ...(cursor && !wantsAll() && { since: cursor }) });
  }
  #ping() {
    if (++this.#unanswered > 2) this.#dropConnection();
    else this.send("ping");
  }
  #lost(code) {
    this.#ready = false;
    clearInterval(this.#heartbeat);
    clearTimeout(this.#timer);
    if (this.#ended) return;
    // A token ends with its time, or when its user leaves the team: a new one comes with signing in.
    if (code === EXPIRED || code === BAD_TOKEN) { session.end(true); return; }
    this.#onState(code === NO_COMPANY ? "none" : "connecting");
    this.#timer = setTimeout(() => this.#connect(), pauseBefore(this.#tries++));
  }
}
