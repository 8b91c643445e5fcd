/* The official clients of AG-UI, A2A, MCP and OpenAI for node: a line of JSON in ({with, …}); out come {heard}, the text
   of the answer so far, and in the end {done} or {failed}. */
import { createInterface } from "node:readline";
import { HttpAgent } from "@ag-ui/client";
import { SendMessageRequest, StreamResponse, SubscribeToTaskRequest } from "@a2a-js/sdk";
import { ClientFactory } from "@a2a-js/sdk/client";
import * as mcp2 from "@modelcontextprotocol/client";
import { Client as Mcp1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as Mcp1Transport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { createOpenAI } from "@ai-sdk/openai";
import { Agent, hostedMcpTool, OpenAIProvider, Runner } from "@openai/agents";
import { generateText, streamText } from "ai";
import OpenAI from "openai";

const bearer = (token) => ({ Authorization: `Bearer ${token}` });

async function all(stream, each, heard, text) {
  const told = [];
  let said = "";
  for await (const one of stream) {
    told.push(each(one));
    const piece = text(told.at(-1));
    if (piece) heard(said += piece);
  }
  return told;
}

const openaiText = (event) => (event.type === "response.output_text.delta" ? event.delta : event.choices?.[0]?.delta.content);
const a2aText = (event) => event.artifactUpdate?.artifact.parts[0]?.text;

/* One session of MCP: `calls` are [method, …arguments] of the client; gives what each has come to. `answer`: what its user
   says to every form. */
async function mcp({ url, token, calls, answer, capabilities = {} }, heard, Client, Transport, elicit, options) {
  const client = new Client({ name: "test", version: "1" }, { capabilities: { ...capabilities, ...(answer && { elicitation: {} }) }, ...options });
  const asked = [];
  if (answer) client.setRequestHandler(elicit, ({ params }) => { asked.push(params); heard(params.message); return answer; });
  await client.connect(new Transport(new URL(`${url}/mcp`), { requestInit: { headers: bearer(token) } }));
  const done = [];
  for (const [method, ...given] of calls) {
    try { done.push(await client[method](...given)); }
    catch (error) { done.push({ thrown: { code: error.code, message: error.message, data: error.data } }); }
  }
  await client.close();
  return { done, asked };
}

const clients = {
  async agui({ url, token, threadId, messages, resume }, heard) {
    const agent = new HttpAgent({ url: `${url}/v2/ag-ui`, headers: bearer(token), threadId, initialMessages: messages });
    if (resume) agent.pendingInterrupts = resume.map(({ interruptId }) => ({ id: interruptId, reason: "confirmation" }));
    await agent.runAgent({ resume }, { onTextMessageContentEvent: ({ event, textMessageBuffer }) => heard(textMessageBuffer + event.delta) });
    return { messages: agent.messages, interrupts: agent.pendingInterrupts };
  },
  async a2a({ url, token, message, task }, heard) {
    const client = await new ClientFactory().createFromUrl(url), options = { serviceParameters: bearer(token) };
    const stream = message ? client.sendMessageStream(SendMessageRequest.fromJSON({ message }), options)
      : client.resubscribeTask(SubscribeToTaskRequest.fromJSON({ id: task }), options);
    return await all(stream, (one) => StreamResponse.toJSON(one), heard, a2aText);
  },
  async openai({ url, token, path, body, maxRetries = 0 }, heard) {
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: token, maxRetries });
    const target = path === "responses" ? client.responses : client.chat.completions;
    return body.stream ? await all(await target.create(body), (one) => one, heard, openaiText) : await target.create(body);
  },
  /* Says each of `said` with the history that its SDK keeps, and yes to whatever waits; gives the answers. */
  async aisdk({ url, token, said, stream }) {
    const model = createOpenAI({ baseURL: `${url}/v1`, apiKey: token })("nexus"), messages = [], texts = [];
    for (const text of said) {
      let next = [{ role: "user", content: text }];
      while (next.length) {
        messages.push(...next);
        const result = await (stream ? streamText : generateText)({ model, messages });
        messages.push(...(await result.response).messages);
        texts.push(await result.text);
        const asked = (await result.content).filter(({ type }) => type === "tool-approval-request");
        const yes = ({ approvalId }) => ({ type: "tool-approval-response", approvalId, approved: true, providerExecuted: true });
        next = asked.length ? [{ role: "tool", content: asked.map(yes) }] : [];
      }
    }
    return texts;
  },
  async agents({ url, token, said, stream }) {
    const openAIClient = new OpenAI({ baseURL: `${url}/v1`, apiKey: token, maxRetries: 0 });
    const runner = new Runner({ modelProvider: new OpenAIProvider({ openAIClient }), tracingDisabled: true });
    const ours = hostedMcpTool({ serverLabel: "nexus", serverUrl: url, requireApproval: "always" });
    const agent = new Agent({ name: "test", model: "nexus", tools: [ours] }), texts = [];
    let history = [];
    for (const text of said) {
      let result, next = [...history, { role: "user", content: text }];
      do {
        result = await runner.run(agent, next, { stream });
        if (stream) await result.completed;
        for (const one of result.interruptions) result.state.approve(one);
        next = result.state;
      } while (result.interruptions.length);
      texts.push(result.finalOutput);
      history = result.history;
    }
    return texts;
  },
  mcp: (asked, heard) => mcp(asked, heard, mcp2.Client, mcp2.StreamableHTTPClientTransport, "elicitation/create", { versionNegotiation: { mode: "auto" } }),
  mcp1: (asked, heard) => mcp(asked, heard, Mcp1, Mcp1Transport, ElicitRequestSchema),
};

// AG-UI's client tells of a connection that breaks twice: by its promise, and by one that nobody holds.
process.on("unhandledRejection", () => {});
createInterface({ input: process.stdin }).on("line", async (line) => {
  const asked = JSON.parse(line);
  const tell = (said) => process.stdout.write(`${JSON.stringify({ id: asked.id, ...said })}\n`);
  try { tell({ done: await clients[asked.with](asked, (heard) => tell({ heard })) }); }
  catch (error) { tell({ failed: { message: String(error?.message ?? error), status: error?.status, code: error?.code, name: error?.name } }); }
});
