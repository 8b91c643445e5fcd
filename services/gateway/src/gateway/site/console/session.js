/* Who is signed in: a token kept for this tab alone. A new tab takes that of an open one, and signing out of one signs
   out of all that have it. */
const KEY = "nexus.console.token", TAKE_MS = 200;
const tabs = new BroadcastChannel(KEY);
tabs.addEventListener("message", ({ data }) => {
  if (data.wanted && session.token) tabs.postMessage({ token: session.token });
  if (data.ended && data.ended === session.token) session.end(true);
});

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
    if (this.token) tabs.postMessage({ ended: this.token });
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
/* Signs in as an open tab is. Without one, returns after TAKE_MS. */
export async function takeFromOpenTab() {
  if (session.token) return;
  const token = await new Promise((done) => {
    tabs.addEventListener("message", ({ data }) => data.token && done(data.token));
    setTimeout(done, TAKE_MS);
    tabs.postMessage({ wanted: true });
  });
  if (token) session.begin(token);
}
export const isDevelopment = document.documentElement.dataset.dev === "true";
