/* Calls of the HTTP API. A failed call raises a Problem with the server's text about it. */
import { say } from "./i18n.js";
import { session } from "./session.js";

const DEADLINE_MS = 30_000;

export class Problem extends Error {
  constructor(status, body) {
    super(body.detail || body.title || say("noAnswer"));
    this.status = status;
    this.code = body.code || "";
    this.fields = body.errors || [];
  }
}

/* Returns {status, headers, body}; raises Problem. An expired token ends the session. */
export async function call(method, path, { body, headers = {}, deadline = DEADLINE_MS } = {}) {
  const form = body instanceof FormData;
  let answer, content;
  try {
    answer = await fetch(path, {
      method,
      headers: {
        ...(session.token && { Authorization: `Bearer ${session.token}` }),
        "Accept-Language": document.documentElement.lang,
        ...(body !== undefined && !form && { "Content-Type": "application/json" }),
        ...headers,
      },
      body: body === undefined || form ? body : JSON.stringify(body),
      signal: AbortSignal.timeout(deadline),
    });
    const kind = answer.headers.get("content-type") || "";
    content = kind.includes("json") ? await answer.json() : await answer.text();
  } catch {
    throw new Problem(0, { detail: say("noAnswer") });
  }
  if (answer.status === 401 && session.token) session.end(true);
  if (!answer.ok) throw new Problem(answer.status, typeof content === "string" ? {} : content);
  return { status: answer.status, headers: answer.headers, body: content };
}
export const get = async (path) => (await call("GET", path)).body;
export const post = async (path, body, options) => (await call("POST", path, { body, ...options })).body;
