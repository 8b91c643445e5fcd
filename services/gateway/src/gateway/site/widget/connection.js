/* The socket: hello, heartbeat, and reconnecting from what was seen last. Close codes: 4000-4499 (and a lost connection)
   reconnect, 4500-4999 are final (docs/architecture/chat.md). */
import { REFUSED } from "./identities.js";
import { pauseBefore } from "./returning.js";
import { locale } from "./i18n.js";
import { page, server } from "./settings.js";

const CROWDED_WAIT = 10_000, HEARTBEAT = 25_000, OPENING = 30_000;
const EXPIRED = 4005, CROWDED = 4029;
export const isFinal = (code) => code >= 4500 && code < 5000;

export class Connection {
  ready = false;
  #identity; #onFrame; #onState;
  #socket = null; #cursor = null; #tries = 0; #missed = 0; #doubted = false; #wanted = false; #opening = false; #timer = 0; #beat = 0;

  /* onFrame(frame); onState("connecting" | "offline" | "ready" | "ended", code) */
  constructor(identity, onFrame, onState) {
    this.#identity = identity;
    this.#onFrame = onFrame;
    this.#onState = onState;
    this.#listen(true);
  }

  async open() {
    this.#wanted = true;
    if (this.#opening || this.#socket) return;
    clearTimeout(this.#timer);
    this.#opening = true;
    this.#waiting();
    try {
      const token = await this.#identity.token();
      if (this.#wanted) this.#connect(token);
    } catch (error) {
      if (error.final) this.#end(error.code);
      else this.#later(error.retryAfter);
    } finally { this.#opening = false; }
  }
  /* The next hello asks for the whole history, not only for what was missed. */
  forget() { this.#cursor = null; }
  /* Reconnects at once, as the reader asked. */
  hurry() { this.#tries = 0; this.open(); }

  send(type, fields = {}) {
    if (!this.ready) return false;
    this.#socket.send(JSON.stringify({ v: 1, type, ...fields }));
    if (type === "message.send") { this.#missed ||= 1; this.send("ping"); }
    return true;
  }
  /* If a message is not acknowledged and not even the ping after it was answered, the connection is lost. */
  doubt() { if (this.#missed) this.#cut(); }

  close() {
    this.#wanted = false;
    this.#listen(false);
    this.#drop();
  }

  #listen(on) {
    const change = on ? addEventListener : removeEventListener;
    change("online", this.#online);
    change("offline", this.#cut);
    change("pageshow", this.#online);
  }
  #online = () => { if (this.#wanted && !this.ready) this.hurry(); };
  #cut = () => { if (this.#wanted) this.#lost(1006); };

  #connect(token) {
    this.#timer = setTimeout(this.#cut, OPENING);
    const socket = this.#socket = new WebSocket(`${server.replace(/^http/, "ws")}/v2/chat/ws`);
    socket.onopen = () => this.#hello(token);
    socket.onmessage = (event) => { if (socket === this.#socket) this.#frame(JSON.parse(event.data), token); };
    socket.onclose = (event) => { if (socket === this.#socket) this.#lost(event.code); };
  }
  #hello(token) {
    const conversationId = this.#identity.kept.get("conversation");
    const resumed = conversationId && { conversationId, ...(this.#cursor && { since: this.#cursor }) };
    this.#socket.send(JSON.stringify({ v: 1, type: "hello", token, visitor: this.#identity.visitor, locale, page: page(), ...resumed }));
  }

  #frame(frame, token) {
    this.#missed = 0;
    if (frame.type === "error" && !this.ready) return this.#helloRefused(frame, token);
    if (frame.type === "welcome") this.#welcomed(frame);
    this.#onFrame(frame);
    this.#advance(frame);
  }
  #welcomed(frame) {
    this.#identity.kept.set("conversation", frame.conversationId);
    this.#tries = 0;
    this.#doubted = false;
    clearTimeout(this.#timer);
    if (this.#identity.welcomed) this.#identity.welcomed();
    if (this.#cursor) this.#cursor.epoch = frame.epoch;
    clearInterval(this.#beat);
    this.#beat = setInterval(() => this.#ping(), frame.heartbeatMs || HEARTBEAT);
    this.ready = true;
    this.#onState("ready");
  }
  #helloRefused(frame, token) {
    if (frame.code === "NOT_FOUND" && this.#identity.kept.get("conversation")) { // it belongs to somebody else by now: a new one begins
      this.#identity.kept.set("conversation", null);
      this.#cursor = null;
      this.#hello(token);
    } else if (frame.retryable) this.#lost(1006, frame.retryAfterMs);
    else this.#end(REFUSED);
  }
  /* The cursor is the last stored event, or the snapshot's; acknowledgements do not move it. */
  #advance(frame) {
    if (frame.type === "snapshot") this.#cursor = { epoch: frame.epoch, seq: frame.seq };
    else if (["message.created", "owner.changed", "run.cancelled"].includes(frame.type) && this.#cursor) {
      const seq = frame.message ? frame.message.seq : frame.seq;
      if (seq > this.#cursor.seq) this.#cursor.seq = seq;
    }
  }
  #ping() {
    if (++this.#missed > 2) this.#cut();
    else this.send("ping");
  }

  #lost(code, wait) {
    this.#drop();
    if (!this.#wanted) return;
    if (code === EXPIRED && !this.#identity.expired()) return this.#end(REFUSED);
    if (isFinal(code) && !(code === REFUSED && this.#another())) return this.#end(code);
    this.#later(code === CROWDED ? CROWDED_WAIT : wait);
  }
  /* If a token is refused, another one is tried once. */
  #another() {
    if (this.#doubted) return false;
    this.#doubted = true;
    return this.#identity.refused();
  }
  #later(wait) {
    this.#waiting();
    const pause = (wait || 0) * (0.5 + Math.random() / 2);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#wanted && this.open(), Math.max(pause, pauseBefore(this.#tries++)));
  }
  #waiting() { this.#onState(navigator.onLine === false ? "offline" : "connecting"); }
  #end(code) {
    this.#wanted = false;
    this.#drop();
    this.#onState("ended", code);
  }
  #drop() {
    const socket = this.#socket;
    this.#socket = null;
    this.ready = false;
    clearTimeout(this.#timer);
    clearInterval(this.#beat);
    socket?.close();
  }
}
