/* Files and pictures in a chat: chosen, sent, shown. The console loads it with its page; the widget when a chat has begun,
   so that nobody waits for it: therefore its words and its style are its own. */
const WORDS = {
  en: {
    attach: "Attach files", remove: "Remove {name}", sending: "Sending…", open: "Open {name}", large: "At most 10 MB", smaller: "Making it smaller…", asIs: "{size}, as large as it was: it could not be made smaller",
    most: "At most 5 files in one message", away: "Could not be sent. Try again.", gone: "Not kept any more",
  },
  es: {
    attach: "Adjuntar archivos", remove: "Quitar {name}", sending: "Enviando…", open: "Abrir {name}", large: "Como máximo 10 MB", smaller: "Reduciendo la imagen…", asIs: "{size}, sin reducir: no se ha podido hacer más pequeña",
    most: "Como máximo 5 archivos por mensaje", away: "No se ha podido enviar. Inténtalo otra vez.", gone: "Ya no se conserva",
  },
};
const MOST = 5, MOST_BYTES = 10 * 1024 * 1024, DEADLINE = 90_000;
const PICTURE = /^image\/(png|jpeg|gif|webp)$/;
/* A picture of more bytes is made smaller before it is sent: models that see are shown no larger one. What moves (GIF) would
   stand still. The longest side and the quality that are tried, one after the other. */
const MOST_PICTURE = 2_800_000, STILL = /^image\/(?!gif|svg)/, STEPS = [[2560, .85], [2048, .8], [1600, .7]];
const SHAPES = {
  clip: "M20 11.5 12 19.4a5 5 0 0 1-7-7l8.4-8.4a3.4 3.4 0 0 1 4.8 4.8l-8.2 8.2a1.7 1.7 0 0 1-2.4-2.4l7.4-7.4",
  file: "M13.5 3.5H6.5v17h11V7.5ZM13.5 3.5v4h4M9.5 12.5h5M9.5 16h5",
  close: "M6 6l12 12M18 6 6 18",
};
const STYLE = `
  .files { display: flex; flex-wrap: wrap; gap: 6px; margin: 6px 0 0; padding: 0; list-style: none; }
  .files li { max-width: 100%; }
  .files[hidden] { display: none; }
  .file { display: inline-flex; flex-wrap: wrap; align-items: center; gap: 6px; max-width: 100%; min-height: 0; padding: 5px 10px; border: 1px solid var(--line, currentColor); border-radius: 10px; background: none; color: inherit; font: inherit; font-size: .85em; text-align: start; }
  button.file { cursor: pointer; }
  .file svg { width: 16px; height: 16px; flex: none; fill: none; stroke: currentColor; stroke-width: 1.7; }
  .file:not(.picture) { flex-wrap: nowrap; }
  .file span { overflow: hidden; min-width: 0; text-overflow: ellipsis; overflow-wrap: anywhere; }
  .file img { display: block; flex-basis: 100%; width: auto; max-width: min(240px, 100%); max-height: 180px; border-radius: 6px; object-fit: contain; }
  .file.failed { border-style: dashed; color: var(--danger, inherit); }
  .chosen { padding: 0 4px 6px; }
  .chosen button, .clip { display: inline-grid; place-items: center; width: 34px; height: 34px; min-height: 0; flex: none; padding: 0; border: 0; border-radius: 50%; background: none; color: inherit; cursor: pointer; }
  .chosen button { width: 24px; height: 24px; }
  .clip svg { width: 20px; height: 20px; fill: none; stroke: currentColor; stroke-width: 1.7; stroke-linecap: round; }
`;
const sheet = new CSSStyleSheet(); // needs no permission of the page's content security policy
sheet.replaceSync(STYLE);

const size = (bytes) => (bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} KB` : `${(bytes / 1e6).toFixed(1)} MB`);
const fill = (text, values) => text.replace(/{(\w+)}/g, (_, name) => values[name]);
/* What a message says that is nothing but files. */
export const named = (files) => files.map((file) => file.name).join(", ");

/* The same picture in fewer bytes, upright as the camera held it; null: it cannot be made smaller here. */
async function smaller(file, make) {
  let picture;
  try {
    picture = await createImageBitmap(file, { imageOrientation: "from-image" });
    for (const [side, quality] of STEPS) {
      const by = Math.min(1, side / Math.max(picture.width, picture.height));
      const canvas = make("canvas", { width: Math.round(picture.width * by), height: Math.round(picture.height * by) });
      const pen = canvas.getContext("2d");
      pen.imageSmoothingQuality = "high";
      pen.drawImage(picture, 0, 0, canvas.width, canvas.height);
      const found = await encoded(canvas, pen, quality, !/png|webp/.test(file.type));
      if (found && found.size <= MOST_PICTURE) return new File([found], renamed(file.name, found.type), { type: found.type });
    }
  } catch { /* no picture that this browser can read, or no room for it */ } finally { picture?.close(); }
  return null;
}
/* What can be seen through stays so, where the browser writes WebP; the rest is a JPEG. */
async function encoded(canvas, pen, quality, opaque) {
  const write = (type) => new Promise((done) => { canvas.toBlob(done, type, quality); });
  if (opaque || !seenThrough(pen.getImageData(0, 0, canvas.width, canvas.height).data)) return write("image/jpeg");
  const found = await write("image/webp");
  if (found?.type === "image/webp") return found;
  pen.globalCompositeOperation = "destination-over";
  pen.fillStyle = "#fff";
  pen.fillRect(0, 0, canvas.width, canvas.height);
  return write("image/jpeg");
}
function seenThrough(pixels) {
  for (let at = 3; at < pixels.length; at += 4) if (pixels[at] < 255) return true;
  return false;
}
const renamed = (name, type) => `${name.replace(/\.\w{1,5}$/, "")}.${type === "image/jpeg" ? "jpg" : "webp"}`;

export class Files {
  #kit; #ask; #conversation;

  /* kit: {make, button, draw} of the page; server: its origin, or nothing on its own pages; token(): of whoever reads, also
     promised; conversation(): its id; root: the document, or the shadow root that it is in. */
  constructor(kit, { locale, server, token, conversation, root }) {
    this.#kit = kit;
    this.#conversation = conversation;
    this.#ask = async (path, options) =>
      fetch(server + path, { ...options, headers: { authorization: `Bearer ${await token()}`, "accept-language": locale } });
    this.words = WORDS[locale.slice(0, 2)] || WORDS.en;
    if (!root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
  }

  /* Into a message of the widget's: {body, extras}. */
  show({ body, extras }, { files, text }) {
    extras.prepend(this.shown(files));
    body.hidden = this.isAll(files, text);
  }
  /* Whether it says nothing beside its files. */
  isAll(files, text) { return text === named(files); }
  /* A message's files: pictures as they are, the rest to be saved. */
  shown(files) { return this.#kit.make("ul", { class: "files" }, ...files.map((file) => this.#kit.make("li", {}, this.#one(file)))); }
  #one(file) {
    const { make, button } = this.#kit, told = make("small", {}, size(file.size)), label = fill(this.words.open, file);
    const node = button("", () => this.#open(file).catch(() => { told.textContent = this.words.gone; }),
      { class: "file", title: label, "aria-label": label }, this.icon("file"), make("span", { dir: "auto" }, file.name), told);
    if (PICTURE.test(file.type)) {
      node.classList.add("picture");
      this.#link(file).then((src) => {
        // Where the page allows no pictures of ours, the name stays.
        const picture = make("img", { src, alt: file.name, onerror: () => picture.remove() });
        node.prepend(picture);
      }).catch(() => { told.textContent = this.words.gone; });
    }
    return node;
  }
  async #open(file) {
    this.#kit.make("a", { href: await this.#link(file), target: "_blank", rel: "noopener noreferrer", download: file.name }).click();
  }
  /* `of`: the conversation that it is of, where that is another one. */
  async #link({ id, of }) {
    const answer = await this.#ask(`${this.#path(of)}/${id}/link`);
    if (!answer.ok) throw new Error(this.words.gone);
    return new URL((await answer.json()).url, answer.url).href;
  }
  #path(of = this.#conversation()) { return `/v2/conversations/${encodeURIComponent(of)}/files`; }

  /* What the server says of a file that is sent, a picture of many bytes smaller than it was; told(words) says what is
     done. Raises Error with words. */
  async send(file, told) {
    const tooLarge = STILL.test(file.type) && file.size > MOST_PICTURE;
    if (tooLarge) told(this.words.smaller);
    const made = tooLarge && await smaller(file, this.#kit.make);
    if (made) file = made;
    if (file.size > MOST_BYTES) throw new Error(this.words.large);
    told(this.words.sending);
    const { answer, said } = await this.#store(file, [1_000, 3_000, 9_000]);
    if (!answer?.ok) throw new Error(said?.detail || this.words.away);
    told(tooLarge && !made ? fill(this.words.asIs, { size: size(said.size) }) : size(said.size));
    return said;
  }
  /* {answer, said}, or nothing; after each of the pauses (ms) once more, while the server is away. */
  async #store(file, [pause, ...more]) {
    let found = {}, again = true;
    try {
      const answer = await this.#ask(`${this.#path()}?name=${encodeURIComponent(file.name)}`, { method: "POST", body: file, signal: AbortSignal.timeout(DEADLINE) });
      found = { answer, said: await answer.json() };
      again = answer.status >= 500;
    } catch (error) { again = error.name !== "TimeoutError"; }
    if (!again || !pause) return found;
    await new Promise((over) => { setTimeout(over, pause); });
    return this.#store(file, more);
  }
  /* Where files for the next message are chosen; kept: {read(), write(files)} of those that the server has. Its `changed` is called when there are others. */
  picker(kept) { return new Picker(this, this.#kit, kept); }
  /* The same, where `kept` is the widget's storage. */
  pickerOfTab(kept) {
    const key = `files:${this.#conversation()}`;
    return this.picker({ read: () => JSON.parse(kept.here(key) || "[]"), write: (files) => kept.setHere(key, files.length ? JSON.stringify(files) : "") });
  }
  icon(name) { return this.#kit.draw("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, this.#kit.draw("path", { d: SHAPES[name] })); }
}

class Picker {
  changed = () => {};
  #files; #kit; #kept; #chosen = []; #last = null;

  constructor(files, kit, kept) {
    this.#files = files;
    this.#kit = kit;
    this.#kept = kept;
    const { make, button } = kit, { attach } = files.words;
    const input = make("input", { type: "file", multiple: true, hidden: true, "aria-label": attach, onchange: () => { this.take(input.files); input.value = ""; } });
    this.node = make("span", {}, button("", () => input.click(), { class: "clip", "aria-label": attach, title: attach }, files.icon("clip")), input);
    this.list = make("ul", { class: "files chosen", hidden: true, "aria-live": "polite" });
    this.put(kept.read());
  }
  get refs() { return this.#chosen.map((one) => one.ref).filter(Boolean); }
  get text() { return named(this.refs); }
  get busy() { return this.#chosen.some((one) => !one.ref && !one.failed); }

  /* Pictures may be pasted, and files dropped, onto where one writes; wanted(): whether they go with what is written there. */
  listen(place, wanted = () => true) {
    const takes = (event, data) => { if (data?.files.length) { event.preventDefault(); if (wanted()) this.take(data.files); } };
    place.addEventListener("paste", (event) => takes(event, event.clipboardData));
    place.addEventListener("dragover", (event) => { if (event.dataTransfer?.types.includes("Files")) event.preventDefault(); });
    place.addEventListener("drop", (event) => takes(event, event.dataTransfer));
    return this;
  }
  take(files) {
    for (const file of [...files]) this.#add(file);
    this.#draw();
  }
  /* What the server has: chosen before, or back from a message that was refused. */
  put(files) {
    for (const ref of files) {
      const one = this.#row(ref, size(ref.size));
      if (!one.failed) one.ref = ref;
    }
    this.#draw();
  }
  clear() {
    this.#chosen = [];
    this.list.replaceChildren();
    this.#draw();
  }
  #add(file) {
    const one = this.#row(file, this.#files.words.sending);
    if (one.failed) return;
    // One after the other: the server takes two at once of a person.
    const send = () => this.#chosen.includes(one) && this.#files.send(file, one.tell);
    this.#last = Promise.resolve(this.#last).then(send).then((ref) => { one.ref = ref; }, (error) => one.fail(error.message)).finally(() => this.#draw());
  }
  #row(file, text) {
    const { make, button } = this.#kit, { words } = this.#files, remove = fill(words.remove, file), told = make("small", {}, text);
    const row = make("span", { class: "file" }, this.#files.icon("file"), make("span", { dir: "auto" }, file.name), told,
      button("", () => { this.#chosen = this.#chosen.filter((other) => other !== one); one.node.remove(); this.#draw(); }, { "aria-label": remove, title: remove }, this.#files.icon("close")));
    const one = {
      node: make("li", {}, row),
      tell: (words) => { told.textContent = words; },
      fail: (why) => { one.failed = true; one.tell(why); row.classList.add("failed"); },
    };
    if (this.#chosen.filter((other) => !other.failed).length >= MOST) one.fail(words.most);
    this.#chosen.push(one);
    this.list.append(one.node);
    return one;
  }
  #draw() {
    this.list.hidden = !this.#chosen.length;
    this.#kept.write(this.refs);
    this.changed();
  }
}
