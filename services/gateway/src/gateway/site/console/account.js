/* Signing in with an account at the company's OpenID provider. What proves that the answer belongs to this tab (state,
   nonce, PKCE's verifier) is made here and kept for the tab alone. */
import { post, Problem } from "./api.js";
import { claims, session } from "./session.js";
import { say } from "./i18n.js";

const KEY = "nexus.console.signing";
const text = (bytes) => btoa(String.fromCharCode(...bytes)).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
const random = (count) => text(crypto.getRandomValues(new Uint8Array(count)));

/* The address at the company's provider, and what this tab has to keep for the way back. Raises Problem: 403 where the
   company has none, and what is wrong with it. */
export async function begin(company) {
  const kept = { company, state: random(24), nonce: random(24), verifier: random(48) };
  const proof = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(kept.verifier)));
  const { address } = await post("/v2/sign-in/start", { companyId: company, state: kept.state, nonce: kept.nonce, challenge: text(proof) });
  return { address, kept };
}

/* Goes to the provider. Raises what `begin` does. */
export async function leave(company, invitation = null) {
  const { address, kept } = await begin(company);
  sessionStorage.setItem(KEY, JSON.stringify({ ...kept, invitation }));
  location.assign(address);
}

/* Back from the provider: what went wrong, or "" where one is signed in or has not been away. */
export async function returned() {
  const said = new URLSearchParams(location.search);
  if (!said.has("state") || !(said.has("code") || said.has("error"))) return "";
  const kept = JSON.parse(sessionStorage.getItem(KEY) || "null");
  sessionStorage.removeItem(KEY);
  // Whoever tries again need not name the company again.
  history.replaceState(null, "", location.pathname + (kept ? `?company=${encodeURIComponent(kept.company)}` : "") + location.hash);
  if (kept?.state !== said.get("state")) return say("signInElsewhere");
  if (said.has("error")) return said.get("error") === "access_denied" ? say("signInDenied") : say("signInFailed", { why: said.get("error_description") || said.get("error") });
  const { company, invitation, nonce, verifier } = kept;
  return finish({
    companyId: company, code: said.get("code"), nonce, verifier,
    ...(said.has("iss") && { issuer: said.get("iss") }), ...(invitation && { invitation }),
  });
}

/* The company of an invitation that the address brings behind #, where no server sees it. */
export function invited() {
  const [, token] = location.hash.match(/^#invite=([\w-]+\.[\w-]+\.[\w-]+)$/) || [];
  const who = token && claims(token);
  return who ? { token, company: who.company } : null;
}

/* Uses an invitation: at the company's provider, or, where it has none, at once. What went wrong, or "". */
export async function accept({ token, company }) {
  try {
    await leave(company, token);
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
