/* Whose chat it is: a visitor, whose token comes from here and is renewed, or a customer, whose token comes from the host
   page. */
import { PersonStorage } from "./storage.js";
import { locale } from "./i18n.js";
import { company, page, server } from "./settings.js";

const SOON = 60_000, NO_COMPANY = 4510;
export const REFUSED = 4500;
export const FORBIDDEN_SITE = 4590; // added to the close codes of the server: the widget may not run on this site

/* There is no token. `code`: the reason, as a close code; `final`: trying again would not help. */
export class NoToken extends Error {
  constructor(code, retryAfter) { super(`no token (${code})`); this.code = code; this.retryAfter = retryAfter; }
  get final() { return this.code >= 4500; }
}

/* What any page may know of the company: its colour, whether the AI answers, whether the chat may run here. */
export const look = () => fetch(`${server}/widget.json?company=${encodeURIComponent(company)}`);

/* Browsers do not say why a request to another origin failed: finds out whether the chat may run here or the connection
   failed. */
async function refusal() {
  const answer = await look();
  if (answer.status === 404) throw new NoToken(NO_COMPANY);
  if (answer.ok && !(await answer.json()).allowed) throw new NoToken(FORBIDDEN_SITE);
  throw new NoToken(4000);
}

/* Returns {token, expiresAt} of a visitor, or of the customer in `claim.identity`; null if the old token or the claim is
   refused. */
async function ask(claim, oldToken) {
  const headers = { "content-type": "application/json", ...(oldToken && { authorization: `Bearer ${oldToken}` }) };
  const body = JSON.stringify({ companyId: company, locale, page: page(), ...claim });
  const answer = await fetch(`${server}/v2/visitors`, { method: "POST", headers, body }).catch(refusal);
  if (answer.status === 401 && (oldToken || claim.identity)) return null;
  if (answer.status === 403) throw new NoToken(FORBIDDEN_SITE);
  if (answer.status === 404) throw new NoToken(NO_COMPANY);
  if (!answer.ok) throw new NoToken(4000, 1000 * answer.headers.get("retry-after"));
  return answer.json();
}
const claims = (token) => { try { return JSON.parse(atob(token.split(".")[1].replace(/-/g, "+").replace(/_/g, "/"))); } catch { return {}; } };

export class Visitor {
  kept = new PersonStorage("visitor");
  customer = false;

  async token() {
    const stored = this.kept.get("token");
    if (stored && Date.parse(stored.expiresAt) - Date.now() > SOON) return stored.token;
    return this.#ask(stored && stored.token);
  }
  async #ask(oldToken) {
    const reply = await ask({}, oldToken);
    if (!reply) { this.forget(); return this.#ask(); } // away for more than a month
    this.kept.set("token", { token: reply.token, expiresAt: reply.expiresAt });
    return reply.token;
  }
  /* The token is no longer valid: the same visitor asks for another one, or becomes a new one. */
  expired() { const stored = this.kept.get("token"); if (stored) this.kept.set("token", { ...stored, expiresAt: 0 }); return true; }
  refused() { if (!this.kept.get("token")) return false; this.forget(); return true; }
  forget() { this.kept.set("token", null); this.kept.set("conversation", null); }
}

/* `source`: a token, or a function that returns one (or a promise), called again when a token has expired. */
export class Customer {
  customer = true;
  #source; #token; #asked = 0;

  constructor(source, first) {
    this.#source = source;
    this.#token = first;
    this.kept = new PersonStorage(`user:${Customer.subject(first)}`);
  }
  async token() {
    const token = this.#token || await this.#source();
    // A token signed by the company, which does not contain our company claim, is exchanged for one of ours.
    const reply = claims(token).company ? { token: token } : await ask({ identity: String(token) });
    if (!reply) {
      if (this.#renew()) return this.token();
      throw new NoToken(REFUSED);
    }
    return this.#token = reply.token;
  }
  expired() { return this.#renew(); }
  refused() { return this.#renew(); }
  /* The conversation begun in this browser before the sign-in is linked to the customer, once. */
  get visitor() { return new PersonStorage("visitor").get("token")?.token; }
  welcomed() { this.#asked = 0; new Visitor().forget(); }
  #renew() {
    this.#token = null;
    return typeof this.#source === "function" && ++this.#asked <= 3;
  }
  /* Whose storage it is; only the server checks the token. */
  static subject(token) { return claims(token).sub || "?"; }
}
