/* A chat through the AI SDK, which a page's useChat has too: `npm install ai`, set NEXUS_TOKEN to `nexus token --role user`,
   and run it with a question. */
import { DefaultChatTransport, readUIMessageStream } from "ai";

const question = process.argv.slice(2).join(" ") || "what is AAPL trading at?";
const transport = new DefaultChatTransport({
  api: `${process.env.NEXUS_URL ?? "http://127.0.0.1:8080"}/v2/ui/chat`,
  headers: { Authorization: `Bearer ${process.env.NEXUS_TOKEN}` },
});
const asked = { id: crypto.randomUUID(), role: "user", parts: [{ type: "text", text: question }] };
const chatId = process.env.NEXUS_CHAT ?? crypto.randomUUID();
const stream = await transport.sendMessages({ chatId, messages: [asked], trigger: "submit-message" });
const tools = new Set();
let said = "";
for await (const { parts } of readUIMessageStream({ stream })) {
  for (const part of parts.filter((one) => one.type === "dynamic-tool" && !tools.has(one.toolCallId))) {
    tools.add(part.toolCallId);
    process.stdout.write(`[${part.toolName}] `);
  }
  const text = parts.filter((one) => one.type === "text").map((one) => one.text).join("");
  process.stdout.write(text.slice(said.length));
  said = text;
}
process.stdout.write("\n");
