/* The official clients of AG-UI, A2A and OpenAI for node: a line of JSON in ({with, …}), one out ({done} or {failed}). */
import { createInterface } from "node:readline";
import { HttpAgent } from "@ag-ui/client";
import { SendMessageRequest, StreamResponse, SubscribeToTaskRequest } from "@a2a-js/sdk";
import { ClientFactory } from "@a2a-js/sdk/client";
import OpenAI from "openai";

const bearer = (token) => ({ Authorization: `Bearer ${token}` });

async function all(stream, each) {
  const told = [];
  for await (const one of stream) told.push(each(one));
  return told;
}

const clients = {
  async agui({ url, token, threadId, messages, resume }) {
    const agent = new HttpAgent({ url: `${url}/v2/ag-ui`, headers: bearer(token), threadId, initialMessages: messages });
    if (resume) agent.pendingInterrupts = resume.map(({ interruptId }) => ({ id: interruptId, reason: "confirmation" }));
    await agent.runAgent({ resume });
    return { messages: agent.messages, interrupts: agent.pendingInterrupts };
  },
  async a2a({ url, token, message, task }) {
    const client = await new ClientFactory().createFromUrl(url), options = { serviceParameters: bearer(token) };
    const stream = message ? client.sendMessageStream(SendMessageRequest.fromJSON({ message }), options)
      : client.resubscribeTask(SubscribeToTaskRequest.fromJSON({ id: task }), options);
    return await all(stream, (one) => StreamResponse.toJSON(one));
  },
  async openai({ url, token, path, body }) {
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: token, maxRetries: 0 });
    const target = path === "responses" ? client.responses : client.chat.completions;
    return body.stream ? await all(await target.create(body), (one) => one) : await target.create(body);
  },
};

createInterface({ input: process.stdin }).on("line", async (line) => {
  const asked = JSON.parse(line);
  const tell = (said) => process.stdout.write(`${JSON.stringify({ id: asked.id, ...said })}\n`);
  try { tell({ done: await clients[asked.with](asked) }); }
  catch (error) { tell({ failed: { message: String(error?.message ?? error), status: error?.status, code: error?.code, name: error?.name } }); }
});
