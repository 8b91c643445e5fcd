/* Who is signed in: a token kept for this tab alone. */
const KEY = "nexus.console.token";

/* Returns what a token says, or null if it is none. Only the server checks it. */
export function claims(token) {
  try {
    const body = token.split(".")[1].replace(/-/g, "+").replace(/_/g, "/");
    const payload = JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(body), (letter) => letter.charCodeAt(0))));
    return { subject: payload.sub, role: payload.role, company: payload.company, name: payload.name, expires: payload.exp * 1000 };
  } catch { return null; }
}

export const session = {
  token: sessionStorage.getItem(KEY),
  get who() { return this.token ? claims(this.token) : null; },
  get isAdmin() { return this.who?.role === "admin"; },
  begin(token) { this.token = token; sessionStorage.setItem(KEY, token); },
  /* refused: the server ended it, which the sign-in page says. */
  end(refused = false) {
    this.token = null;
    sessionStorage.removeItem(KEY);
    if (refused) dispatchEvent(new Event("signedout"));
  },
};
/* Uses the token of a sign-in link. It is behind #, so no server or log sees it, and is removed from the address. */
export function linked() {
  const [, token] = location.hash.match(/^#token=([\w-]+\.[\w-]+\.[\w-]+)$/) || [];
  if (!token) return;
  history.replaceState(null, "", location.pathname);
  if (claims(token)) session.begin(token);
}
export const isDevelopment = document.documentElement.dataset.dev === "true";
