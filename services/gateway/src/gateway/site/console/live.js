/* The human agent's socket: the inbox as it changes, and the conversation that is open, also over a lost line. */
import { pauseBefore } from "./returning.js";
import { session } from "./session.js";
import { language } from "./i18n.js";

const EXPIRED = 4005, BAD_TOKEN = 4500, NO_COMPANY = 4510, MOST_FOLLOWED = 50, OPENING = 30_000;

export class Live {
  #socket = null; #ready = false; #tries = 0; #missed = 0; #beat = 0; #timer = 0; #ended = false;
  #open = null; #followed = new Set(); #onFrame; #onState;

  /* onFrame(frame); onState("connecting" | "none" | "ready"); none: the company has no settings yet. */
  constructor(onFrame, onState) {
    this.#onFrame = onFrame;
    this.#onState = onState;
    onState("connecting");
    addEventListener("online", this.#hurry);
    addEventListener("offline", this.#cut);
    this.#connect();
  }

  /* The one conversation that is looked at; null: none. Its newest messages come, and after a lost line what came since:
     or the newest messages again, where `anew` says so. */
  follow(conversationId, anew = () => false) {
    this.#open = conversationId && { conversationId, cursor: null, anew };
    if (this.#followed.size >= MOST_FOLLOWED) this.#socket?.close();
    else this.#watch();
  }
  send(type, fields = {}) {
    if (!this.#ready) return false;
    this.#socket.send(JSON.stringify({ v: 1, type, ...fields }));
    if (type === "message.send") { this.#missed ||= 1; this.send("ping"); }
    return true;
  }
  /* A message is not stored for long: a line on which not even the ping behind it was answered is lost. */
  doubt() { if (this.#missed) this.#cut(); }
  end() {
    this.#ended = true;
    removeEventListener("online", this.#hurry);
    removeEventListener("offline", this.#cut);
    clearTimeout(this.#timer);
    clearInterval(this.#beat);
    this.#socket?.close();
  }

  #hurry = () => { if (!this.#ready) { this.#tries = 0; clearTimeout(this.#timer); this.#connect(); } };
  /* A line that is known to be cut is not waited for. */
  #cut = () => { const cut = this.#socket; this.#socket = null; cut?.close(); this.#lost(0); };
  #connect() {
    this.#followed.clear();
    const earlier = this.#socket;
    this.#timer = setTimeout(this.#cut, OPENING);
    const socket = this.#socket = new WebSocket(`${location.origin.replace(/^http/, "ws")}/v2/chat/ws`);
    earlier?.close();
    socket.onopen = () => socket.send(JSON.stringify({ v: 1, type: "hello", token: session.token, locale: language }));
    socket.onmessage = (event) => { if (socket === this.#socket) this.#frame(JSON.parse(event.data)); };
    socket.onclose = (event) => { if (socket === this.#socket) this.#lost(event.code); };
  }
  #frame(frame) {
    this.#missed = 0;
    if (frame.type === "welcome" && !frame.conversationId) {
      this.#ready = true;
      this.#tries = 0;
      clearTimeout(this.#timer);
      clearInterval(this.#beat);
      this.#beat = setInterval(() => this.#ping(), frame.heartbeatMs);
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
    const { conversationId, cursor, anew } = this.#open;
    this.#followed.add(conversationId);
    this.send("conversation.watch", { conversationId, ...(cursor && !anew() && { since: cursor }) });
  }
  #ping() {
    if (++this.#missed > 2) this.#cut();
    else this.send("ping");
  }
  #lost(code) {
    this.#ready = false;
    clearInterval(this.#beat);
    clearTimeout(this.#timer);
    if (this.#ended) return;
    // A token is good for its time, and for as long as one is in the team: another one comes with signing in.
    if (code === EXPIRED || code === BAD_TOKEN) { session.end(true); return; }
    this.#onState(code === NO_COMPANY ? "none" : "connecting");
    this.#timer = setTimeout(() => this.#connect(), pauseBefore(this.#tries++));
  }
}
