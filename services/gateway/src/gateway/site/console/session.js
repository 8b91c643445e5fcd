/* Who is signed in: a token of the company's own, kept for this tab alone. */
const KEY = "nexus.console.token";

/* What a token says, or null for what is no token. It is the server that believes it or not. */
export function claims(token) {
  try {
    const body = token.split(".")[1].replace(/-/g, "+").replace(/_/g, "/");
    const said = JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(body), (one) => one.charCodeAt(0))));
    return { subject: said.sub, role: said.role, company: said.company, name: said.name, expires: said.exp * 1000 };
  } catch { return null; }
}

export const session = {
  token: sessionStorage.getItem(KEY),
  get who() { return this.token ? claims(this.token) : null; },
  get isAdmin() { return this.who?.role === "admin"; },
  begin(token) { this.token = token; sessionStorage.setItem(KEY, token); },
  /* `refused`: by the server, of which whoever is at the page is told. */
  end(refused = false) {
    this.token = null;
    sessionStorage.removeItem(KEY);
    if (refused) dispatchEvent(new Event("signedout"));
  },
};
/* A sign-in link brings its token behind #, where no server and no log sees it; it does not stay in the address. */
export function linked() {
  const [, token] = location.hash.match(/^#token=([\w-]+\.[\w-]+\.[\w-]+)$/) || [];
  if (!token) return;
  history.replaceState(null, "", location.pathname);
  if (claims(token)) session.begin(token);
}
export const isDevelopment = document.documentElement.dataset.dev === "true";
