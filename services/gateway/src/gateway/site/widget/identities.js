/* Whose chat it is: a visitor, who gets a token here and renews it, or a customer, whose token the host page brings. */
import { PersonStorage } from "./storage.js";
import { locale } from "./i18n.js";
import { company, page, server } from "./settings.js";

const SOON = 60_000, NO_COMPANY = 4510;
export const REFUSED = 4500;
export const FORBIDDEN_SITE = 4590; // beside the close codes of the server: the widget may not run on this site

/* No token is to be had: `final` when trying again would change nothing; `code` says why, as a close code would. */
export class NoToken extends Error {
  constructor(code, retryAfter) { super(`no token (${code})`); this.code = code; this.retryAfter = retryAfter; }
  get final() { return this.code >= 4500; }
}

/* What the company lets any page know: its colour, whether a machine answers, whether the chat may run here. */
export const look = () => fetch(`${server}/widget.json?company=${encodeURIComponent(company)}`);

/* A browser tells nothing of a refused request to another origin: is it the line, or is the chat not wanted here? */
async function refusal() {
  const answer = await look();
  if (answer.status === 404) throw new NoToken(NO_COMPANY);
  if (answer.ok && !(await answer.json()).allowed) throw new NoToken(FORBIDDEN_SITE);
  throw new NoToken(4000);
}

/* {token, expiresAt} of a visitor, or of whom `said.identity` names; null where `old`, or that word, is not believed. */
async function ask(said, old) {
  const headers = { "content-type": "application/json", ...(old && { authorization: `Bearer ${old}` }) };
  const body = JSON.stringify({ companyId: company, locale, page: page(), ...said });
  const answer = await fetch(`${server}/v2/visitors`, { method: "POST", headers, body }).catch(refusal);
  if (answer.status === 401 && (old || said.identity)) return null;
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
    const known = this.kept.get("token");
    if (known && Date.parse(known.expiresAt) - Date.now() > SOON) return known.token;
    return this.#ask(known && known.token);
  }
  async #ask(old) {
    const made = await ask({}, old);
    if (!made) { this.forget(); return this.#ask(); } // away for more than a month
    this.kept.set("token", { token: made.token, expiresAt: made.expiresAt });
    return made.token;
  }
  /* The token is not believed any more: the same visitor asks for another one, or becomes a new one. */
  expired() { const known = this.kept.get("token"); if (known) this.kept.set("token", { ...known, expiresAt: 0 }); return true; }
  refused() { if (!this.kept.get("token")) return false; this.forget(); return true; }
  forget() { this.kept.set("token", null); this.kept.set("conversation", null); }
}

/* `source`: a token, or a function that gives one (also a promised one), asked again when a token has expired. */
export class Customer {
  customer = true;
  #source; #token; #asked = 0;

  constructor(source, first) {
    this.#source = source;
    this.#token = first;
    this.kept = new PersonStorage(`user:${Customer.subject(first)}`);
  }
  async token() {
    const said = this.#token || await this.#source();
    // The company's own word for who it is, which names no company of ours, is traded for a token.
    const made = claims(said).company ? { token: said } : await ask({ identity: String(said) });
    if (!made) {
      if (this.#renew()) return this.token();
      throw new NoToken(REFUSED);
    }
    return this.#token = made.token;
  }
  expired() { return this.#renew(); }
  refused() { return this.#renew(); }
  /* What they began in this browser before they signed in is linked to them, once. */
  get visitor() { return new PersonStorage("visitor").get("token")?.token; }
  welcomed() { this.#asked = 0; new Visitor().forget(); }
  #renew() {
    this.#token = null;
    return typeof this.#source === "function" && ++this.#asked <= 3;
  }
  /* Whose storage it is; whether the token is good is for the server to say. */
  static subject(token) { return claims(token).sub || "?"; }
}
