/* Signs in with an account at the company's OpenID provider. The values that prove that the reply belongs to this tab
   (state, nonce, PKCE verifier) are made here and kept for this tab alone. */
import { post, Problem } from "./api.js";
import { claims, session } from "./session.js";
import { say } from "./i18n.js";

const KEY = "nexus.console.signing";
const text = (bytes) => btoa(String.fromCharCode(...bytes)).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
const random = (count) => text(crypto.getRandomValues(new Uint8Array(count)));

/* Returns the address at the company's provider, and what this tab keeps until the user comes back. Raises Problem: 403
   if the company has no provider, or what is wrong with it. */
export async function startSignIn(company) {
  const attempt = { company, state: random(24), nonce: random(24), verifier: random(48) };
  const proof = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(attempt.verifier)));
  const { address } = await post("/v2/sign-in/start", { companyId: company, state: attempt.state, nonce: attempt.nonce, challenge: text(proof) });
  return { address, attempt };
}

/* Goes to the provider. Raises what `startSignIn` raises. */
export async function goToProvider(company, invitation = null) {
  const { address, attempt } = await startSignIn(company);
  sessionStorage.setItem(KEY, JSON.stringify({ ...attempt, invitation }));
  location.assign(address);
}

/* Handles the return from the provider: returns what went wrong, or "" if the user is signed in or was not away. */
export async function finishReturn() {
  const params = new URLSearchParams(location.search);
  if (!params.has("state") || !(params.has("code") || params.has("error"))) return "";
  const attempt = JSON.parse(sessionStorage.getItem(KEY) || "null");
  sessionStorage.removeItem(KEY);
  // A second attempt need not name the company again.
  history.replaceState(null, "", location.pathname + (attempt ? `?company=${encodeURIComponent(attempt.company)}` : "") + location.hash);
  if (attempt?.state !== params.get("state")) return say("signInElsewhere");
  if (params.has("error")) return params.get("error") === "access_denied" ? say("signInDenied") : say("signInFailed", { why: params.get("error_description") || params.get("error") });
  const { company, invitation, nonce, verifier } = attempt;
  return finish({
    companyId: company, code: params.get("code"), nonce, verifier,
    ...(params.has("iss") && { issuer: params.get("iss") }), ...(invitation && { invitation }),
  });
}

/* Returns the token and company of an invitation. It is in the address behind #, which is not sent to a server. */
export function invited() {
  const [, token] = location.hash.match(/^#invite=([\w-]+\.[\w-]+\.[\w-]+)$/) || [];
  const inviter = token && claims(token);
  return inviter ? { token, company: inviter.company } : null;
}

/* Uses an invitation: at the company's provider, or at once if it has none. Returns what went wrong, or "". */
export async function accept({ token, company }) {
  try {
    await goToProvider(company, token);
    return null;
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 403) return error.message;
  }
  return finish({ invitation: token });
}

async function finish(body) {
  try {
    session.begin((await post("/v2/sign-in", body)).token);
    return "";
  } catch (error) { return error.message; }
}
