/* Who works for the company here: invited, given a role, signed out, removed; and the provider that says who they are. */
import { begin } from "./account.js";
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
  #company; #told; #people; #provider; #link; #reading = new Refresh(() => this.#load(), (text) => { this.#told.textContent = text; });

  constructor(stage, { session }) {
    this.#company = session.who.company;
    this.#told = make("p", { class: "told", role: "status" });
    this.#people = make("div", {});
    this.#provider = make("section", {});
    this.#link = make("div", { class: "result", "aria-live": "polite" });
    const own = make("section", {}, make("h2", {}, say("ownSessions")), make("p", { class: "hint" }, say("ownSessionsHint")),
      make("p", {}, button(say("signOutEverywhere"), () => this.#do(() => call("POST", "/v2/team/me/sign-out")))));
    stage.append(make("div", { class: "page" }, make("h1", {}, say("team")), this.#told, ...(session.isAdmin ? [this.#invite(), this.#link, this.#people, this.#provider] : []), own));
    if (session.isAdmin) this.#reading.now();
  }
  end() { this.#reading.end(); }

  async #load() {
    const { members } = await get("/v2/team");
    this.#people.replaceChildren(...(members.length ? [make("ul", { class: "people" }, ...members.map((one) => this.#row(one)))] : [make("p", { class: "empty" }, say("noTeam"))]));
    if (!this.#provider.firstChild) await this.#showProvider();
  }
  /* Something is done, which is told, and the team is as it is then. */
  async #do(work, done = "done", told = this.#told) {
    told.textContent = "";
    try {
      const answer = await work();
      told.textContent = say(done);
      await this.#reading.now();
      return answer;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      told.textContent = error.message;
      return null;
    }
  }
  #roles(id, chosen, changed = () => {}) {
    return make("select", { id, "aria-label": say("role"), onchange: changed }, ...["commercial", "admin"].map((role) =>
      make("option", { value: role, ...(role === chosen && { selected: true }) }, say(`role_${role}`))));
  }
  #row({ userId, name, email, role, joined }) {
    const who = name || email || userId, path = `/v2/team/${userId}`;
    const roles = this.#roles(`role-${userId}`, role, () => this.#do(() => call("PATCH", path, { body: { role: roles.value } }), "roleChanged"));
    const remove = button(say("remove"), () => {
      if (remove.dataset.sure) return this.#do(() => call("DELETE", path), "memberGone");
      remove.dataset.sure = "true";
      remove.textContent = say("removeSure", { name: who });
    }, { class: "small danger" });
    return make("li", { class: "row spread" },
      make("span", {}, make("b", {}, who), " ", make("small", {}, [name && email, say(joined ? "joined" : "notJoined")].filter(Boolean).join(" · "))),
      make("span", { class: "row" }, roles,
        button(say("newLink"), async () => this.#showLink(await this.#do(() => call("POST", `${path}/invitation`))), { class: "small" }),
        button(say("signOutEverywhere"), () => this.#do(() => call("POST", `${path}/sign-out`)), { class: "small" }), remove));
  }
  #invite() {
    const name = make("input", { id: "invite-name", maxlength: "80" });
    const email = make("input", { id: "invite-email", type: "email", maxlength: "254" });
    const role = this.#roles("invite-role", "commercial");
    return make("form", { class: "settings", onsubmit: async (event) => {
      event.preventDefault();
      const body = { role: role.value, ...(name.value.trim() && { name: name.value.trim() }), ...(email.value.trim() && { email: email.value.trim() }) };
      const made = await this.#do(() => call("POST", "/v2/team", { body }), "invited");
      this.#showLink(made);
      if (made) event.target.reset();
    } }, make("label", { for: "invite-name" }, say("name")), name, make("label", { for: "invite-email" }, say("email")), email,
    make("label", { for: "invite-role" }, say("role")), role, make("p", { class: "row end" }, make("button", { type: "submit", class: "primary" }, say("invite"))));
  }
  #showLink(made) {
    if (!made) return;
    const { member: { name, email, userId }, link } = made.body;
    this.#link.replaceChildren(make("p", {}, say("inviteLink", { name: name || email || userId })), make("pre", { tabindex: "0" }, make("code", {}, link)), copying(link));
  }

  async #showProvider() {
    const address = `/v2/llm/config/${this.#company}`;
    const { provider } = (await get(address)).team ?? {};
    const field = (name, type, more = {}) => make("input", { id: `provider-${name}`, type, value: provider?.[name] ?? "", ...more });
    const fields = { issuer: field("issuer", "url", { placeholder: "https://login.example.com" }), clientId: field("clientId", "text"), clientSecret: field("clientSecret", "password", { autocomplete: "new-password" }) };
    const told = make("p", { class: "told", role: "status" });
    const save = async (event) => {
      event.preventDefault();
      const value = Object.fromEntries(Object.entries(fields).map(([name, input]) => [name, input.value.trim() || null]));
      const saved = await this.#do(() => call("PATCH", address, { body: { team: { provider: value.issuer ? value : null } }, headers: { "If-Match": "*" } }), value.issuer ? "providerTried" : "providerGone", told);
      if (!saved || !value.issuer) return;
      // As whoever signs in does: a provider that is not there, or is none, is told now and not to them.
      told.textContent = await begin(this.#company).then(() => say("providerSaved"), (error) => say("providerUnusable", { why: error.message }));
    };
    this.#provider.replaceChildren(make("h2", {}, say("provider")), make("p", { class: "hint" }, say("providerHint")),
      make("p", { class: "hint" }, say("redirectUri"), " ", make("code", {}, `${location.origin}/console`)),
      make("form", { class: "settings", onsubmit: save }, ...Object.entries(fields).flatMap(([name, input]) => [make("label", { for: input.id }, say(`provider_${name}`)), input]),
        make("div", { class: "row end" }, told, make("button", { type: "submit", class: "primary" }, say("save")))));
  }
}
