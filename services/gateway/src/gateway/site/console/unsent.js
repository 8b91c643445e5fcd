/* Words and files that are for visitors and that the log does not have: what is being written, and what is on its way. Kept
   for this tab, so that neither another page nor a new sign-in costs them, and sent, in whatever conversation, until they are stored. */
import { named } from "./files.js";

const AGAIN = 2_000, PATIENCE = 8_000, LATE = 10_000;
const read = (key, none) => { try { return JSON.parse(sessionStorage.getItem(key)) || none; } catch { return none; } };
/* What cannot be kept (storage is full or forbidden) is there for as long as the page is. */
const keep = (key, value) => { try { sessionStorage.setItem(key, JSON.stringify(value)); } catch { /* the page remembers it */ } };
export const joined = (...texts) => texts.filter(Boolean).join("\n");

export class Unsent {
  #send; #late; #tell; #draftsKey; #sentKey; #drafts; #sent; #open = null; #timer = 0; #waiting = []; #pickers = new Map();

  /* send(type, fields); late(): the server has not said for LATE ms what became of something; tell(id, why): what was written
     in a conversation that one has left was refused. */
  constructor({ company, subject }, send, late, tell) {
    this.#send = send;
    this.#late = late;
    this.#tell = tell;
    this.#draftsKey = `nexus.console.drafts.${company}.${subject}`;
    this.#sentKey = `nexus.console.unsent.${company}.${subject}`;
    this.#drafts = read(this.#draftsKey, {});
    this.#sent = read(this.#sentKey, []);
  }
  end() { clearTimeout(this.#timer); }
  /* {id, stored(message), refused(message, why)} of the conversation that is looked at, or null. */
  watch(open) { this.#open = open; }

  /* {text, isNote, files} */
  draft(id) { return { text: "", isNote: false, files: [], ...this.#drafts[id] }; }
  keepDraft(id, part) {
    const draft = { ...this.draft(id), ...part };
    if (draft.text || draft.files.length) this.#drafts[id] = draft;
    else delete this.#drafts[id];
    keep(this.#draftsKey, this.#drafts);
  }
  /* Where a conversation's files are chosen: what is on its way there goes on while another one is open. */
  picker(id, make) {
    if (!this.#pickers.has(id)) this.#pickers.set(id, make({ read: () => this.draft(id).files, write: (files) => this.keepDraft(id, { files }) }));
    return this.#pickers.get(id);
  }

  of(conversationId) { return this.#sent.filter((one) => one.conversationId === conversationId); }
  /* Whether all that was sent to a conversation is stored, told as soon as it is known. */
  settled(conversationId) {
    if (!this.of(conversationId).length) return true;
    return new Promise((done) => {
      this.#waiting.push({ conversationId, done });
      setTimeout(() => done(false), PATIENCE);
    });
  }
  #settle(conversationId, stored) {
    if (stored && this.of(conversationId).length) return;
    for (const one of this.#waiting) if (one.conversationId === conversationId) one.done(stored);
    this.#waiting = this.#waiting.filter((one) => one.conversationId !== conversationId);
  }
  /* seenSeq: the newest change of owner that whoever wrote it had seen. */
  add(message, seenSeq) {
    this.#sent.push({ ...message, seenSeq });
    keep(this.#sentKey, this.#sent);
    this.#write(this.#sent.at(-1));
    setTimeout(() => { if (this.#sent.some((one) => one.clientMessageId === message.clientMessageId)) this.#late(); }, LATE);
  }
  /* A colleague who has taken the conversation meanwhile keeps it: the words go back to where they were written. */
  #write(message) { this.#send("message.send", { ...message, files: message.files.map((file) => file.id) }); }
  /* The line is up: whoever wrote has taken the conversation over, also where the line was cut between the two. */
  again() {
    clearTimeout(this.#timer);
    const taken = new Map(this.#sent.map(({ conversationId, seenSeq }) => [conversationId, seenSeq]));
    for (const [conversationId, seenSeq] of taken) this.#send("owner.take", { conversationId, seenSeq });
    for (const message of this.#sent) this.#write({ ...message, retry: true });
  }
  frame({ type, clientMessageId, message, messages, ...error }) {
    if (type === "snapshot") for (const one of messages) this.#stored(one.clientMessageId);
    else if (type === "message.ack") this.#stored(clientMessageId);
    else if (type === "message.created") this.#stored(message.clientMessageId);
    else if (type === "error" && error.ref) this.#refused(error, message);
  }
  /* What cannot be sent now is tried again soon; what never can goes back to where it was written. */
  #refused({ ref, retryable, retryAfterMs }, why) {
    const message = retryable ? this.#sent.find((one) => one.clientMessageId === ref) : this.#taken(ref);
    if (!message) return;
    if (retryable) {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.again(), retryAfterMs || AGAIN);
      return;
    }
    const { conversationId, files } = message, said = message.text === named(files) ? "" : message.text;
    this.#settle(conversationId, false);
    if (this.#open?.id === conversationId) { this.#open.refused({ ...message, text: said }, why); return; }
    const draft = this.draft(conversationId);
    this.keepDraft(conversationId, { text: joined(said, draft.text), files: [...draft.files, ...files] });
    this.#pickers.get(conversationId)?.put(files);
    this.#tell(conversationId, why);
  }
  #stored(id) {
    const message = this.#taken(id);
    if (!message) return;
    this.#settle(message.conversationId, true);
    if (this.#open?.id === message.conversationId) this.#open.stored(message);
  }
  #taken(id) {
    const at = this.#sent.findIndex((one) => one.clientMessageId === id);
    if (at < 0) return null;
    const [message] = this.#sent.splice(at, 1);
    keep(this.#sentKey, this.#sent);
    return message;
  }
}
