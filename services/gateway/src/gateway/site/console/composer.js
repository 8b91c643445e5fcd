/* Where a human agent writes: three suggested replies, a better wording, and the message itself. */
import { post } from "./api.js";
import { make, button } from "./dom.js";
import { glyph } from "./glyphs.js";
import { language, say } from "./words-of.js";

const LONGEST = 8000, TYPING_PAUSE = 3000, TONES = ["friendly", "formal", "brief"];

export class Composer {
  node; field;
  #send; #typing; #conversation; #offers; #fault; #label; #lastTyped = 0; #improve;

  /* send(text) sees to it; typing() tells the visitor that somebody writes. */
  constructor(conversation, { send, typing }) {
    this.#conversation = conversation;
    this.#send = send;
    this.#typing = typing;
    this.#offers = make("div", { class: "offers", "aria-live": "polite" });
    this.#fault = make("p", { class: "fault", role: "alert" });
    this.#label = make("span", {}, say("send"));
    this.field = make("textarea", {
      rows: "3", maxlength: String(LONGEST), placeholder: say("writeHint"), "aria-label": say("write"),
      oninput: () => this.#typed(), onkeydown: (event) => this.#key(event),
    });
    const tone = make("select", { "aria-label": say("tone") }, make("option", { value: "" }, say("toneAny")),
      ...TONES.map((one) => make("option", { value: one }, say(`tone_${one}`))));
    this.#improve = button(say("improve"), () => this.#better(tone.value), {});
    const suggest = button("", () => this.#suggest(suggest), {}, glyph("spark"), say("suggest"));
    this.node = make("form", { class: "composer", onsubmit: (event) => { event.preventDefault(); this.submit(); } },
      this.#offers, this.field, this.#fault,
      make("div", { class: "row" }, suggest, this.#improve, tone,
        make("button", { type: "submit", class: "primary" }, this.#label)));
  }
  /* What the button does now: send, or take over and send. */
  says(name) { this.#label.textContent = say(name); }
  put(text) {
    this.field.value = text.slice(0, LONGEST);
    this.field.focus();
  }
  tell(text) { this.#fault.textContent = text; }

  submit() {
    const text = this.field.value.trim();
    if (!text) return;
    this.field.value = "";
    this.tell("");
    this.#send(text);
    this.#offers.replaceChildren();
  }
  #key(event) {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); this.submit(); }
  }
  #typed() {
    if (Date.now() - this.#lastTyped < TYPING_PAUSE) return;
    this.#lastTyped = Date.now();
    this.#typing();
  }
  async #suggest(asked) {
    this.#offers.replaceChildren(make("p", { class: "hint" }, say("loading")));
    await this.#busy(asked, async () => {
      const found = await post("/v2/llm/suggestions", { conversationId: this.#conversation }, { deadline: 60_000 });
      this.#offers.replaceChildren(...found.suggestions.map((text) => button(text, () => this.put(text), { class: "offer" })));
    }, () => this.#offers.replaceChildren());
  }
  async #better(tone) {
    const text = this.field.value.trim();
    if (!text) { this.tell(say("improveEmpty")); return; }
    await this.#busy(this.#improve, async () => {
      const body = { text, locale: language, conversationId: this.#conversation, ...(tone && { tone }) };
      this.put((await post("/v2/llm/improve", body, { deadline: 60_000 })).text);
    });
  }
  async #busy(asked, work, undone = () => {}) {
    asked.disabled = true;
    asked.setAttribute("aria-busy", "true");
    this.tell("");
    try { await work(); } catch (error) { undone(); this.tell(error.message); }
    asked.disabled = false;
    asked.removeAttribute("aria-busy");
  }
}
