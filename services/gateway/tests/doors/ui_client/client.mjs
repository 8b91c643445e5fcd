/* Chats of the AI SDK, driven by lines of JSON: {do, chat, …} in; {chat, status, messages, …} out after each change. */
import { createInterface } from "node:readline";
import { AbstractChat, DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses, lastAssistantMessageIsCompleteWithToolCalls } from "ai";

const tell = (said) => process.stdout.write(`${JSON.stringify(said)}\n`);
const chats = new Map();

class State {
  #status = "ready"; #messages = []; #error;
  constructor(name) { this.name = name; }
  #changed() { tell({ chat: this.name, status: this.#status, messages: this.#messages, error: this.#error?.message, code: this.#error?.statusCode }); }
  get status() { return this.#status; }
  set status(now) { this.#status = now; this.#changed(); }
  get error() { return this.#error; }
  set error(now) { this.#error = now; this.#changed(); }
  get messages() { return this.#messages; }
  set messages(now) { this.#messages = now; this.#changed(); }
  pushMessage = (message) => { this.messages = [...this.#messages, message]; };
  popMessage = () => { this.messages = this.#messages.slice(0, -1); };
  replaceMessage = (index, message) => { this.messages = this.#messages.map((one, at) => (at === index ? this.snapshot(message) : one)); };
  snapshot = (thing) => structuredClone(thing);
}

class Chat extends AbstractChat {
  constructor({ chat, id, url, token, replay, body }) {
    const transport = new DefaultChatTransport({ api: `${url}/v2/ui/chat`, headers: { Authorization: `Bearer ${token}` }, body, ...replay });
    super({ id, transport, state: new State(chat), sendAutomaticallyWhen: (held) => lastAssistantMessageIsCompleteWithApprovalResponses(held) || lastAssistantMessageIsCompleteWithToolCalls(held),
      onData: (part) => tell({ chat, data: part }), onFinish: ({ isAbort, isError, finishReason }) => tell({ chat, finished: { isAbort, isError, finishReason } }) });
  }
}

const acts = {
  open: (asked) => { chats.set(asked.chat, new Chat(asked)); tell({ chat: asked.chat, status: "ready", messages: [] }); },
  send: (chat, { text, id }) => chat.sendMessage({ parts: [{ type: "text", text }], ...(id && { id }) }),
  approve: (chat, { id, approved }) => chat.addToolApprovalResponse({ id, approved }),
  change: (chat, { id, input }) => { chat.messages = chat.messages.map((message) => ({ ...message, parts: message.parts.map((part) => (part.toolCallId === id ? { ...part, input: { ...part.input, ...input } } : part)) })); },
  output: (chat, { tool, id, output }) => chat.addToolOutput({ tool, toolCallId: id, output }),
  resume: (chat) => chat.resumeStream(),
  again: (chat) => chat.regenerate(),
  stop: (chat) => chat.stop(),
};

createInterface({ input: process.stdin }).on("line", async (line) => {
  const asked = JSON.parse(line);
  try { await (asked.do === "open" ? acts.open(asked) : acts[asked.do](chats.get(asked.chat), asked)); }
  catch (error) { tell({ chat: asked.chat, broken: String(error?.stack || error) }); }
});
