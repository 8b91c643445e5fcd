/* The keys with which the company's server signs who its customers are: made here, shown once, revoked. */
import { call } from "./api.js";
import { make, button } from "./dom.js";
import { SAMPLES } from "./key-samples.js";
import { copying } from "./copying.js";
import { Refresh } from "./refresh.js";
import { say } from "./i18n.js";

export const keysView = {
  path: "keys",
  title: "customerKeys",
  glyph: "key",
  admin: true,
  open: (stage, context) => new KeysView(stage, context),
};
const MAX_KEYS = 4;

class KeysView {
  #address; #company; #status; #list; #newKey; #name; #reading = new Refresh(() => this.#load(), (text) => { this.#status.textContent = text; });

  constructor(stage, { session }) {
    this.#company = session.who.company;
    this.#address = `/v2/llm/config/${this.#company}`;
    this.#status = make("p", { class: "told", role: "status" });
    this.#list = make("div", {});
    this.#name = make("input", { maxlength: "64", placeholder: say("keyName"), "aria-label": say("keyName") });
    this.#newKey = make("div", { class: "result", "aria-live": "polite" });
    stage.append(make("div", { class: "page" }, make("h1", {}, say("customerKeys")), make("p", { class: "hint" }, say("customerKeysHint")), this.#status, this.#list, this.#newKey));
    this.#reading.now();
  }
  end() { this.#reading.end(); }

  async #load() { this.#showKeys((await call("GET", this.#address)).body); }
  #showKeys({ identity }) {
    this.#list.replaceChildren(
      ...(identity.keys.length ? [make("ul", { class: "people" }, ...identity.keys.map((key) => this.#row(key)))] : [make("p", { class: "empty" }, say("noKeys"))]),
      make("p", { class: "row end" }, this.#name, button(say(identity.keys.length ? "nextKey" : "makeKey"), () => this.#makeKey(), { class: "primary", disabled: identity.keys.length >= MAX_KEYS })));
  }
  #row({ id, algorithm }) {
    const revoke = button(say("revoke"), () => {
      if (revoke.dataset.sure) return this.#updateKeys((keys) => keys.filter((key) => key.id !== id), "revoked");
      revoke.dataset.sure = "true";
      revoke.textContent = say("revokeSure");
    }, { class: "small danger" });
    return make("li", { class: "row spread" }, make("span", {}, make("code", {}, id), " ", make("small", {}, algorithm)), revoke);
  }
  /* Keys that the server masks are sent back unchanged. The ETag keeps another admin's change from being overwritten. */
  async #updateKeys(change, done) {
    try {
      const { body, headers } = await call("GET", this.#address);
      const patch = { identity: { keys: change(body.identity.keys) } };
      this.#showKeys((await call("PATCH", this.#address, { body: patch, headers: { "If-Match": headers.get("etag") } })).body);
      this.#status.textContent = say(done);
      return true;
    } catch (error) { this.#status.textContent = error.message; return false; }
  }
  async #makeKey() {
    const hex = (bytes) => [...crypto.getRandomValues(new Uint8Array(bytes))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    const first = !this.#list.querySelector("li"), key = hex(32);
    // The name becomes the key id that tokens carry: ASCII letters and digits.
    const named = this.#name.value.normalize("NFD").replace(/\p{M}/gu, "").replace(/[^\w-]+/g, "-").replace(/^-+|-+$/g, "");
    const id = named || `k${new Date().toISOString().slice(2, 10).replace(/-/g, "")}-${hex(2)}`;
    if (!(await this.#updateKeys((keys) => [...keys, { id, algorithm: "HS256", key }], first ? "firstKeyMade" : "keyMade"))) return;
    this.#name.value = "";
    const code = make("code", {});
    const choice = make("select", { id: "sample", onchange: () => show() }, ...Object.keys(SAMPLES).map((name) => make("option", {}, name)));
    const show = () => { code.textContent = SAMPLES[choice.value].replaceAll("COMPANY", this.#company).replaceAll("KEY_ID", id); };
    show();
    this.#newKey.replaceChildren(make("h2", {}, say("newKey")), make("p", {}, make("b", {}, say("shownOnce"))),
      make("pre", { tabindex: "0", class: "secret" }, make("code", {}, key)),
      copying(key),
      make("p", {}, say("sampleHint")), make("p", { class: "row" }, make("label", { for: "sample" }, say("sampleLanguage")), choice),
      make("pre", { tabindex: "0" }, code), make("p", { class: "hint" }, say("pageHint")),
      make("pre", { tabindex: "0" }, make("code", {}, 'Nexus.identify(() => fetch("/nexus-token").then((answer) => answer.text()));')));
  }
}
