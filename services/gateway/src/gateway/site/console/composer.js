/* Where a human agent writes: three suggested replies, a better wording, and the message itself. */
import { post } from "./api.js";
import { make, button } from "./dom.js";
import { colleagueSource } from "./colleagues.js";
import { glyph } from "./glyphs.js";
import { Picker } from "./picker.js";
import { filled, replySource } from "./replies.js";
import { joined } from "./unsent.js";
import { language, say } from "./i18n.js";

const LONGEST = 8000, TYPING_PAUSE = 3000, TONES = ["friendly", "formal", "brief"];

export class Composer {
  node; field;
  #may; #send; #typing; #note; #isNote = false; #noteSwitch; #picker; #says = "send"; #kept; #noted = {}; #conversation; #files; #offers; #fault; #label; #lastTyped = 0; #improve;

  /* may() says whether one may answer here, asking where needed; send(text, files) sees to it, files being what `files`, a picker, has taken in; typing() tells the visitor that somebody writes; note(text, id) keeps a private one and may raise;
     places() gives what fills in a ready reply; mine: one's own id; kept: {read(), write(part)} of what one has begun. */
  constructor(conversation, { files, may, send, typing, note, places, mine, kept }) {
    this.#conversation = conversation;
    this.#may = may;
    this.#send = send;
    this.#note = note;
    this.#kept = kept;
    this.#noteSwitch = button("", () => { this.#turnNote(!this.#isNote); this.field.focus(); }, { class: "quiet", "aria-pressed": "false" }, glyph("note"), say("privateNote"));
    this.#typing = typing;
    this.#offers = make("div", { class: "offers", "aria-live": "polite" });
    this.#fault = make("p", { class: "fault", role: "alert" });
    this.#label = make("span", {}, say("send"));
    this.field = make("textarea", {
      rows: "3", maxlength: String(LONGEST), placeholder: say("writeHint"), "aria-label": say("write"),
      oninput: () => { this.#keep(); this.#picker.look(); this.#typed(); }, onkeydown: (event) => this.#key(event),
    });
    this.#picker = new Picker(this.field, replySource((text, company) => this.put(filled(text, { ...places(), company }))),
      colleagueSource(mine, () => this.#isNote, (typed, mention) => this.#name(typed, mention)));
    const tone = make("select", { "aria-label": say("tone") }, make("option", { value: "" }, say("tone")),
      ...TONES.map((one) => make("option", { value: one }, say(`tone_${one}`))));
    this.#improve = button(say("improve"), () => this.#better(tone.value), {});
    this.#files = files;
    files.changed = () => { if (!files.busy) this.untell(say("filesComing")); };
    const suggest = button("", () => this.#suggest(suggest), {}, glyph("spark"), say("suggest"));
    this.node = make("form", { class: "composer", onsubmit: (event) => { event.preventDefault(); this.submit(); } },
      this.#offers, this.#picker.node, this.field, this.#files.list, this.#fault,
      make("div", { class: "row" }, this.#files.node, this.#noteSwitch, suggest, this.#improve, tone,
        make("button", { type: "submit", class: "primary" }, this.#label)));
    this.#files.listen(this.node, () => !this.#isNote);
    const { text, isNote } = kept.read();
    this.field.value = text;
    if (isNote) this.#turnNote(true);
  }
  #keep() { this.#kept.write({ text: this.field.value, isNote: this.#isNote }); }
  /* What the button does now: send, or take over and send. */
  says(name) {
    this.#says = name;
    this.#label.textContent = say(this.#isNote ? "keepNote" : name);
  }
  /* A note is told apart from what the visitor reads by all that stands around it. */
  #turnNote(on) {
    this.#isNote = on;
    this.#noteSwitch.setAttribute("aria-pressed", String(on));
    this.node.toggleAttribute("data-note", on);
    this.field.placeholder = say(on ? "noteHint" : "writeHint");
    this.says(this.#says);
    this.#keep();
  }
  /* Writing a private note. */
  note() {
    this.#turnNote(true);
    this.field.focus();
  }
  /* As if it had been typed: what stood there comes back with an undo. */
  put(text) {
    const { field } = this;
    field.focus();
    field.select();
    if (!document.execCommand("insertText", false, text.slice(0, LONGEST))) field.value = text.slice(0, LONGEST);
    this.#keep();
  }
  /* What could not be sent stands again before what has been written since; whoever is elsewhere by now stays there. */
  giveBack(text, files = []) {
    this.#files.put(files);
    const all = joined(text, this.field.value);
    if (document.activeElement === this.field) this.put(all);
    else { this.field.value = all.slice(0, LONGEST); this.#keep(); }
  }
  /* The rest of a name, in the place of what was typed of it. */
  #name(typed, mention) {
    const { field } = this, end = field.selectionStart;
    field.setRangeText(`${mention} `, end - typed.length, end, "end");
    field.focus();
    this.#keep();
  }
  tell(text) { this.#fault.textContent = text; }
  get told() { return this.#fault.textContent; }
  /* What was told is over; what was told since stays. */
  untell(...texts) { if (texts.includes(this.told)) this.tell(""); }

  async submit() {
    const said = this.field.value.trim(), text = said || (this.#isNote ? "" : this.#files.text);
    if (!text) return;
    if (this.#files.busy && !this.#isNote) { this.tell(say("filesComing")); return; }
    if (!this.#isNote && !(await this.#may())) return;
    this.field.value = "";
    this.tell("");
    this.#picker.close();
    if (this.#isNote) { this.#keepNote(text); return; }
    this.#keep();
    this.#send(text, this.#files.refs);
    this.#files.clear();
    this.#offers.replaceChildren();
  }
  async #keepNote(text) {
    // The same words again are the same note: the first try may have been kept.
    if (this.#noted.text !== text) this.#noted = { text, id: crypto.randomUUID() };
    try {
      await this.#note(text, this.#noted.id);
      this.#noted = {};
      if (!this.field.value) this.#turnNote(false);
    } catch (error) {
      this.giveBack(text);
      this.tell(error.message);
    }
  }
  #key(event) {
    if (this.#picker.key(event)) { event.preventDefault(); event.stopPropagation(); return; }
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); this.submit(); }
  }
  #typed() {
    if (this.#isNote || Date.now() - this.#lastTyped < TYPING_PAUSE) return;
    this.#lastTyped = Date.now();
    this.#typing();
  }
  async #suggest(asked) {
    this.#offers.replaceChildren(make("p", { class: "hint" }, say("loading")));
    await this.#busy(asked, async () => {
      const found = await post("/v2/llm/suggestions", { conversationId: this.#conversation }, { deadline: 60_000 });
      this.#offer(found.suggestions);
    }, () => this.#offers.replaceChildren());
  }
  #offer(texts) { this.#offers.replaceChildren(...texts.map((text) => button(text, () => this.put(text), { class: "offer" }))); }
  async #better(tone) {
    const text = this.field.value.trim();
    if (!text) { this.tell(say("improveEmpty")); return; }
    await this.#busy(this.#improve, async () => {
      const body = { text, locale: language, conversationId: this.#conversation, ...(tone && { tone }) };
      const better = (await post("/v2/llm/improve", body, { deadline: 60_000 })).text;
      // Nobody's writing is replaced under their hands, nor is the focus taken from where they are by now.
      const here = document.activeElement === document.body || this.node.contains(document.activeElement);
      if (here && this.field.value.trim() === text) this.put(better);
      else this.#offer([better]);
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
