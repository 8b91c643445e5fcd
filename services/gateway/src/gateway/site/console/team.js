/* The company's team: invite, set a role, sign out, remove; and the provider at which they sign in. */
import { startSignIn } from "./account.js";
import { call, get, Problem } from "./api.js";
import { make, button } from "./dom.js";
import { copying } from "./copying.js";
import { Refresh } from "./refresh.js";
import { say } from "./i18n.js";

export const teamView = {
  path: "team",
  title: "team",
  glyph: "person",
  open: (stage, context) => new TeamView(stage, context),
};

class TeamView {
  #company; #status; #people; #provider; #link; #reading = new Refresh(() => this.#load(), (text) => { this.#status.textContent = text; });

  constructor(stage, { session }) {
    this.#company = session.who.company;
    this.#status = make("p", { class: "told", role: "status" });
    this.#people = make("div", {});
    this.#provider = make("section", {});
    this.#link = make("div", { class: "result", "aria-live": "polite" });
    const ownSection = make("section", {}, make("h2", {}, say("ownSessions")), make("p", { class: "hint" }, say("ownSessionsHint")),
      make("p", {}, button(say("signOutEverywhere"), () => this.#run(() => call("POST", "/v2/team/me/sign-out")))));
    stage.append(make("div", { class: "page" }, make("h1", {}, say("team")), this.#status, ...(session.isAdmin ? [this.#invite(), this.#link, this.#people, this.#provider] : []), ownSection));
    if (session.isAdmin) this.#reading.now();
  }
  end() { this.#reading.end(); }

  async #load() {
    const { members } = await get("/v2/team");
    this.#people.replaceChildren(...(members.length ? [make("ul", { class: "people" }, ...members.map((member) => this.#row(member)))] : [make("p", { class: "empty" }, say("noTeam"))]));
    if (!this.#provider.firstChild) await this.#showProvider();
  }
  /* Runs an action, shows that it is done, and loads the team again. */
  async #run(work, doneName = "done", status = this.#status) {
    status.textContent = "";
    try {
      const answer = await work();
      status.textContent = say(doneName);
      await this.#reading.now();
      return answer;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      status.textContent = error.message;
      return null;
    }
  }
  #roles(id, chosen, changed = () => {}) {
    return make("select", { id, "aria-label": say("role"), onchange: changed }, ...["commercial", "admin"].map((role) =>
      make("option", { value: role, ...(role === chosen && { selected: true }) }, say(`role_${role}`))));
  }
  #row({ userId, name, email, role, joined }) {
    const label = name || email || userId, path = `/v2/team/${userId}`;
    const roles = this.#roles(`role-${userId}`, role, () => this.#run(() => call("PATCH", path, { body: { role: roles.value } }), "roleChanged"));
    const remove = button(say("remove"), () => {
      if (remove.dataset.sure) return this.#run(() => call("DELETE", path), "memberGone");
      remove.dataset.sure = "true";
      remove.textContent = say("removeSure", { name: label });
    }, { class: "small danger" });
    return make("li", { class: "row spread" },
      make("span", {}, make("b", {}, label), " ", make("small", {}, [name && email, say(joined ? "joined" : "notJoined")].filter(Boolean).join(" · "))),
      make("span", { class: "row" }, roles,
        button(say("newLink"), async () => this.#showLink(await this.#run(() => call("POST", `${path}/invitation`))), { class: "small" }),
        button(say("signOutEverywhere"), () => this.#run(() => call("POST", `${path}/sign-out`)), { class: "small" }), remove));
  }
  #invite() {
    const name = make("input", { id: "invite-name", maxlength: "80" });
    const email = make("input", { id: "invite-email", type: "email", maxlength: "254" });
    const role = this.#roles("invite-role", "commercial");
    return make("form", { class: "settings", onsubmit: async (event) => {
      event.preventDefault();
      const body = { role: role.value, ...(name.value.trim() && { name: name.value.trim() }), ...(email.value.trim() && { email: email.value.trim() }) };
      const invitation = await this.#run(() => call("POST", "/v2/team", { body }), "invited");
      this.#showLink(invitation);
      if (invitation) event.target.reset();
    } }, make("label", { for: "invite-name" }, say("name")), name, make("label", { for: "invite-email" }, say("email")), email,
    make("label", { for: "invite-role" }, say("role")), role, make("p", { class: "row end" }, make("button", { type: "submit", class: "primary" }, say("invite"))));
  }
  #showLink(invitation) {
    if (!invitation) return;
    const { member: { name, email, userId }, link } = invitation.body;
    this.#link.replaceChildren(make("p", {}, say("inviteLink", { name: name || email || userId })), make("pre", { tabindex: "0" }, make("code", {}, link)), copying(link));
  }

  async #showProvider() {
    const address = `/v2/llm/config/${this.#company}`;
    const { provider } = (await get(address)).team ?? {};
    const field = (name, type, attributes = {}) => make("input", { id: `provider-${name}`, type, value: provider?.[name] ?? "", ...attributes });
    const fields = { issuer: field("issuer", "url", { placeholder: "https://login.example.com" }), clientId: field("clientId", "text"), clientSecret: field("clientSecret", "password", { autocomplete: "new-password" }) };
    const status = make("p", { class: "told", role: "status" });
    const save = async (event) => {
      event.preventDefault();
      const value = Object.fromEntries(Object.entries(fields).map(([name, input]) => [name, input.value.trim() || null]));
      const saved = await this.#run(() => call("PATCH", address, { body: { team: { provider: value.issuer ? value : null } }, headers: { "If-Match": "*" } }), value.issuer ? "providerTried" : "providerGone", status);
      if (!saved || !value.issuer) return;
      // Tries the provider as a sign-in would: a missing or wrong one is reported now.
      status.textContent = await startSignIn(this.#company).then(() => say("providerSaved"), (error) => say("providerUnusable", { why: error.message }));
    };
    this.#provider.replaceChildren(make("h2", {}, say("provider")), make("p", { class: "hint" }, say("providerHint")),
      make("p", { class: "hint" }, say("redirectUri"), " ", make("code", {}, `${location.origin}/console`)),
      make("form", { class: "settings", onsubmit: save }, ...Object.entries(fields).flatMap(([name, input]) => [make("label", { for: input.id }, say(`provider_${name}`)), input]),
        make("div", { class: "row end" }, status, make("button", { type: "submit", class: "primary" }, say("save")))));
  }
}
