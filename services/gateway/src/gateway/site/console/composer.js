/* The field in which a human agent writes: suggested replies, better wording, and the message itself. */
import { post } from "./api.js";
import { make, button } from "./dom.js";
import { colleagueSource } from "./colleagues.js";
import { glyph } from "./glyphs.js";
import { Picker } from "./picker.js";
import { ask } from "./question.js";
import { filled, replySource } from "./replies.js";
import { joined } from "./unsent.js";
import { language, say } from "./i18n.js";

/* A place of a saved reply that nothing was known for: the agent fills it in. */
const BLANK = /\{\p{L}[\p{L}\p{N}_ .-]{0,39}\}/u;
const MAX_LENGTH = 8000, TYPING_PAUSE_MS = 3000, TONES = ["friendly", "formal", "brief"];

export class Composer {
  node; field;
  #confirm; #send; #typing; #note; #isNote = false; #noteSwitch; #picker; #buttonName = "send"; #draft; #lastNote = {}; #conversation; #files; #offers; #fault; #label; #lastTyped = 0; #improveButton;

  /* may(): whether the agent may answer here, after asking if needed; send(text, files): sends a message with the files
     that the picker `files` uploaded; typing(): tells the visitor that somebody is writing; note(text, id): stores a
     private note and may raise; places(): the values that fill in a ready reply; userId: the agent's own id; draft: {read(),
     write(part)} of the draft. */
  constructor(conversation, { files, may, send, typing, note, places, userId, draft }) {
    this.#conversation = conversation;
    this.#confirm = may;
    this.#send = send;
    this.#note = note;
    this.#draft = draft;
    this.#noteSwitch = button("", () => { this.#turnNote(!this.#isNote); this.field.focus(); }, { class: "quiet", "aria-pressed": "false" }, glyph("note"), say("privateNote"));
    this.#typing = typing;
    this.#offers = make("div", { class: "offers", "aria-live": "polite" });
    this.#fault = make("p", { class: "fault", role: "alert" });
    this.#label = make("span", {}, say("send"));
    this.field = make("textarea", {
      rows: "3", maxlength: String(MAX_LENGTH), placeholder: say("writeHint"), "aria-label": say("write"),
      oninput: () => { this.#saveDraft(); this.#picker.look(); this.#tellTyping(); }, onkeydown: (event) => this.#key(event),
    });
    this.#picker = new Picker(this.field, replySource((text, company) => { this.put(filled(text, { ...places(), company })); this.#selectBlank(); }),
      colleagueSource(userId, () => this.#isNote, (typed, mention) => this.#insertName(typed, mention)));
    const tone = make("select", { "aria-label": say("tone") }, make("option", { value: "" }, say("tone")),
      ...TONES.map((choice) => make("option", { value: choice }, say(`tone_${choice}`))));
    this.#improveButton = button(say("improve"), () => this.#improveText(tone.value), {});
    this.#files = files;
    files.changed = () => { if (!files.busy) this.untell(say("filesComing")); };
    const suggest = button("", () => this.#suggest(suggest), {}, glyph("spark"), say("suggest"));
    this.node = make("form", { class: "composer", onsubmit: (event) => { event.preventDefault(); this.submit(); } },
      this.#offers, this.#picker.node, this.field, this.#files.list, this.#fault,
      make("div", { class: "row" }, this.#files.node, this.#noteSwitch, suggest, this.#improveButton, tone,
        make("button", { type: "submit", class: "primary" }, this.#label)));
    this.#files.listen(this.node, () => !this.#isNote);
    const { text, isNote } = draft.read();
    this.field.value = text;
    if (isNote) this.#turnNote(true);
  }
  #saveDraft() { this.#draft.write({ text: this.field.value, isNote: this.#isNote }); }
  /* Sets what the button does: send, or take over and send. */
  says(name) {
    this.#buttonName = name;
    this.#label.textContent = say(this.#isNote ? "keepNote" : name);
  }
  /* A note looks different from a message to the visitor: button, placeholder and frame change. */
  #turnNote(isNote) {
    this.#isNote = isNote;
    this.#noteSwitch.setAttribute("aria-pressed", String(isNote));
    this.node.toggleAttribute("data-note", isNote);
    this.field.placeholder = say(isNote ? "noteHint" : "writeHint");
    this.says(this.#buttonName);
    this.#saveDraft();
  }
  /* Starts a private note. */
  note() {
    this.#turnNote(true);
    this.field.focus();
  }
  /* Replaces the text as if it had been typed, so that an undo brings the old text back. */
  put(text) {
    const { field } = this;
    field.focus();
    field.select();
    if (!document.execCommand("insertText", false, text.slice(0, MAX_LENGTH))) field.value = text.slice(0, MAX_LENGTH);
    this.#saveDraft();
  }
  #selectBlank() {
    const { field } = this, blank = BLANK.exec(field.value);
    if (!blank) return;
    field.focus();
    field.setSelectionRange(blank.index, blank.index + blank[0].length);
  }
  /* Puts text that could not be sent before the text written since. The focus stays where it is. */
  giveBack(text, files = []) {
    this.#files.put(files);
    const fullText = joined(text, this.field.value);
    if (document.activeElement === this.field) this.put(fullText);
    else { this.field.value = fullText.slice(0, MAX_LENGTH); this.#saveDraft(); }
  }
  /* Inserts the whole name in place of its typed beginning. */
  #insertName(typed, mention) {
    const { field } = this, end = field.selectionStart;
    field.setRangeText(`${mention} `, end - typed.length, end, "end");
    field.focus();
    this.#saveDraft();
  }
  tell(text) { this.#fault.textContent = text; }
  get told() { return this.#fault.textContent; }
  /* Removes the shown text if it is one of these; a newer text stays. */
  untell(...texts) { if (texts.includes(this.told)) this.tell(""); }

  async submit() {
    const typed = this.field.value.trim(), text = typed || (this.#isNote ? "" : this.#files.text);
    if (!text) return;
    if (this.#files.busy && !this.#isNote) { this.tell(say("filesComing")); return; }
    const [blank] = (!this.#isNote && BLANK.exec(text)) || [];
    if (blank && !(await ask(say("blankTitle"), say("blankHint", { blank }), say("sendAsItIs")))) { this.#selectBlank(); return; }
    if (!this.#isNote && !(await this.#confirm())) return;
    this.field.value = "";
    this.tell("");
    this.#picker.close();
    if (this.#isNote) { this.#keepNote(text); return; }
    this.#saveDraft();
    this.#send(text, this.#files.refs);
    this.#files.clear();
    this.#offers.replaceChildren();
  }
  async #keepNote(text) {
    // A repeated note with the same text keeps its id: the first attempt may have been stored.
    if (this.#lastNote.text !== text) this.#lastNote = { text, id: crypto.randomUUID() };
    try {
      await this.#note(text, this.#lastNote.id);
      this.#lastNote = {};
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
  #tellTyping() {
    if (this.#isNote || Date.now() - this.#lastTyped < TYPING_PAUSE_MS) return;
    this.#lastTyped = Date.now();
    this.#typing();
  }
  async #suggest(pressed) {
    this.#offers.replaceChildren(make("p", { class: "hint" }, say("loading")));
    await this.#whileBusy(pressed, async () => {
      const reply = await post("/v2/llm/suggestions", { conversationId: this.#conversation }, { deadline: 60_000 });
      this.#offer(reply.suggestions);
    }, () => this.#offers.replaceChildren());
  }
  #offer(texts) { this.#offers.replaceChildren(...texts.map((text) => button(text, () => this.put(text), { class: "offer" }))); }
  async #improveText(tone) {
    const text = this.field.value.trim();
    if (!text) { this.tell(say("improveEmpty")); return; }
    await this.#whileBusy(this.#improveButton, async () => {
      const body = { text, locale: language, conversationId: this.#conversation, ...(tone && { tone }) };
      const better = (await post("/v2/llm/improve", body, { deadline: 60_000 })).text;
      // Text that the agent has changed meanwhile is not replaced, and the focus is not moved.
      const isHere = document.activeElement === document.body || this.node.contains(document.activeElement);
      if (isHere && this.field.value.trim() === text) this.put(better);
      else this.#offer([better]);
    });
  }
  async #whileBusy(pressed, work, onFault = () => {}) {
    pressed.disabled = true;
    pressed.setAttribute("aria-busy", "true");
    this.tell("");
    try { await work(); } catch (error) { onFault(); this.tell(error.message); }
    pressed.disabled = false;
    pressed.removeAttribute("aria-busy");
  }
}
