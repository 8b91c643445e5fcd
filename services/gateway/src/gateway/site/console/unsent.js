/* Messages and files for visitors that are not yet stored: drafts, and what is being sent. They are kept for this tab, so
   that neither another page nor a new sign-in loses them, and sent until they are stored. */
import { named } from "./files.js";

const AGAIN = 2_000, PATIENCE = 8_000, LATE_MS = 10_000;
const read = (key, none) => { try { return JSON.parse(sessionStorage.getItem(key)) || none; } catch { return none; } };
/* If storage is full or forbidden, the page keeps them as long as it is open. */
const keep = (key, value) => { try { sessionStorage.setItem(key, JSON.stringify(value)); } catch { /* the page still has
                                                                                                      it */ } };
export const joined = (...texts) => texts.filter(Boolean).join("\n");

export class Unsent {
  #send; #onLate; #onRefused; #draftsKey; #sentKey; #drafts; #sent; #subject; #open = null; #timer = 0; #waiting = []; #pickers = new Map();

  /* send(type, fields); onLate(): the server has not confirmed something within LATE_MS; onRefused(id, reason): a message
     of a conversation that is no longer open was refused. */
  constructor({ company, subject }, send, onLate, onRefused) {
    this.#send = send;
    this.#onLate = onLate;
    this.#onRefused = onRefused;
    this.#subject = subject;
    this.#draftsKey = `nexus.console.drafts.${company}.${subject}`;
    this.#sentKey = `nexus.console.unsent.${company}.${subject}`;
    this.#drafts = read(this.#draftsKey, {});
    this.#sent = read(this.#sentKey, []);
  }
  end() { clearTimeout(this.#timer); }
  /* {id, stored(message), refused(message, reason)} of the open conversation, or null. */
  watch(open) { this.#open = open; }

  /* {text, isNote, files} */
  draft(id) { return { text: "", isNote: false, files: [], ...this.#drafts[id] }; }
  keepDraft(id, part) {
    const draft = { ...this.draft(id), ...part };
    if (draft.text || draft.files.length) this.#drafts[id] = draft;
    else delete this.#drafts[id];
    keep(this.#draftsKey, this.#drafts);
  }
  /* The file picker of a conversation: its uploads go on while another one is open. */
  picker(id, make) {
    if (!this.#pickers.has(id)) this.#pickers.set(id, make({ read: () => this.draft(id).files, write: (files) => this.keepDraft(id, { files }) }));
    return this.#pickers.get(id);
  }

  of(conversationId) { return this.#sent.filter((message) => message.conversationId === conversationId); }
  /* Resolves to whether all messages sent to a conversation are stored, as soon as that is known. */
  settled(conversationId) {
    if (!this.of(conversationId).length) return true;
    return new Promise((done) => {
      this.#waiting.push({ conversationId, done });
      setTimeout(() => done(false), PATIENCE);
    });
  }
  #settle(conversationId, stored) {
    if (stored && this.of(conversationId).length) return;
    for (const waiter of this.#waiting) if (waiter.conversationId === conversationId) waiter.done(stored);
    this.#waiting = this.#waiting.filter((waiter) => waiter.conversationId !== conversationId);
  }
  /* seenSeq: the newest change of owner that the agent had seen; takes: the message takes the conversation over. */
  add(message, seenSeq, takes) {
    this.#sent.push({ ...message, seenSeq, takes });
    keep(this.#sentKey, this.#sent);
    this.#write(this.#sent.at(-1));
    setTimeout(() => { if (this.#sent.some((other) => other.clientMessageId === message.clientMessageId)) this.#onLate(); }, LATE_MS);
  }
  /* A colleague who has taken the conversation meanwhile keeps it: the message goes back to its field. */
  #write(message) { this.#send("message.send", { ...message, takes: undefined, files: message.files.map((file) => file.id) }); }
  /* The connection is back: takes the conversation over again and sends, since the line may have been cut between the
     two. */
  again() {
    clearTimeout(this.#timer);
    const seenSeqs = new Map(this.#sent.map(({ conversationId, seenSeq }) => [conversationId, seenSeq]));
    for (const [conversationId, seenSeq] of seenSeqs) this.#send("owner.take", { conversationId, seenSeq });
    for (const message of this.#sent) this.#write({ ...message, retry: true });
  }
  frame({ type, clientMessageId, message, messages, owner, ...error }) {
    if (owner?.operatorId === this.#subject) for (const sent of this.of(error.conversationId)) sent.takes = false;
    if (type === "snapshot") for (const message of messages) this.#stored(message.clientMessageId);
    else if (type === "message.ack") this.#stored(clientMessageId);
    else if (type === "message.created") this.#stored(message.clientMessageId);
    else if (type === "error" && error.ref) this.#refused(error, message);
  }
  /* A message that cannot be sent now is tried again soon; one that never can goes back to its field. */
  #refused({ ref, retryable, retryAfterMs }, reason) {
    const message = retryable ? this.#sent.find((message) => message.clientMessageId === ref) : this.#take(ref);
    if (!message) return;
    if (retryable) {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.again(), retryAfterMs || AGAIN);
      return;
    }
    const { conversationId, files } = message, typed = message.text === named(files) ? "" : message.text;
    this.#settle(conversationId, false);
    if (this.#open?.id === conversationId) { this.#open.refused({ ...message, text: typed }, reason); return; }
    const draft = this.draft(conversationId);
    this.keepDraft(conversationId, { text: joined(typed, draft.text), files: [...draft.files, ...files] });
    this.#pickers.get(conversationId)?.put(files);
    this.#onRefused(conversationId, reason);
  }
  #stored(id) {
    const message = this.#take(id);
    if (!message) return;
    const { conversationId, seenSeq } = message;
    // The take-over before it may have failed where the message did not.
    if (message.takes) this.#send("owner.take", { conversationId, seenSeq });
    this.#settle(conversationId, true);
    if (this.#open?.id === conversationId) this.#open.stored(message);
  }
  #take(id) {
    const index = this.#sent.findIndex((message) => message.clientMessageId === id);
    if (index < 0) return null;
    const [message] = this.#sent.splice(index, 1);
    keep(this.#sentKey, this.#sent);
    return message;
  }
}
