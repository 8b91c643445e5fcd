/* Signing in: with a company account or an invitation; in development also with a token, or as one of the demo's people. */
import { accept, invited, goToProvider } from "./account.js";
import { call } from "./api.js";
import { make, button } from "./dom.js";
import { glyph } from "./glyphs.js";
import { claims, session } from "./session.js";
import { say } from "./i18n.js";

export function signIn(root, done, isDevelopment, reason = "") {
  const fault = make("p", { class: "fault", role: "alert" });
  const field = make("textarea", { id: "token", rows: "4", spellcheck: "false", autocomplete: "off", required: true });
  const enter = (token) => {
    const claimed = claims(token);
    if (!claimed) { fault.textContent = say("tokenUnread"); return; }
    if (!["commercial", "admin"].includes(claimed.role)) { fault.textContent = say("tokenRole", { role: String(claimed.role) }); return; }
    if (claimed.expires < Date.now()) { fault.textContent = say("tokenOld"); return; }
    session.begin(token);
    done();
  };
  const form = make("form", {
    onsubmit: (event) => { event.preventDefault(); enter(field.value.trim()); },
  },
  make("label", { for: "token" }, say("token")),
  field,
  make("p", { class: "hint" }, say("tokenHint"), " ", make("code", {}, "nexus token --role admin")),
  make("button", { type: "submit", class: "primary" }, say("signIn")));
  const people = ["commercial", "admin"].map((persona) =>
    button("", async () => {
      try { enter((await call("POST", "/dev/tokens", { body: { persona } })).body.token); } catch (error) { fault.textContent = error.message; }
    }, {}, glyph("person"), say(`role_${persona}`)));
  const invitation = invited();
  const company = make("input", { id: "company", value: invitation?.company || new URLSearchParams(location.search).get("company") || "", pattern: "[a-z0-9\\-]{1,64}", required: true, autocomplete: "organization", spellcheck: "false", readonly: Boolean(invitation) });
  const account = make("form", { onsubmit: async (event) => {
    event.preventDefault();
    fault.textContent = "";
    if (!invitation) {
      try { await goToProvider(company.value.trim()); } catch (error) { fault.textContent = error.message; }
      return;
    }
    const faultText = await accept(invitation);
    if (faultText === null) return; // on the way to the provider
    history.replaceState(null, "", location.pathname);
    if (faultText) fault.textContent = faultText;
    else done();
  } }, invitation && make("p", {}, say("invitedTo", { company: invitation.company })),
  make("label", { for: "company" }, say("companyId")), company,
  make("button", { type: "submit", class: "primary" }, say(invitation ? "acceptInvitation" : "signInAccount")));
  root.replaceChildren(make("main", { class: "door" },
    make("p", { class: "mark" }, glyph("mark"), make("span", {}, "Nexus")),
    make("h1", {}, say("signInTitle")),
    reason && make("p", { class: "line", role: "status" }, reason),
    isDevelopment && !invitation && make("section", { class: "people", "aria-label": say("demoPeople") },
      make("p", {}, say("demoPeople")), make("div", { class: "row" }, ...people)),
    account, fault, isDevelopment && !invitation && make("details", { open: true }, make("summary", {}, say("otherToken")), form)));
  document.title = say("title");
}
