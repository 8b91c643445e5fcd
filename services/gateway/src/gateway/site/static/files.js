/* Files and pictures in a chat: choosing, sending, showing. The console loads it with its page, the widget only when a
   chat has begun: therefore it contains its own texts and style. */
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
const MAX_FILES = 5, MAX_BYTES = 10 * 1024 * 1024, DEADLINE_MS = 90_000;
const PICTURE = /^image\/(png|jpeg|gif|webp)$/;
/* A larger picture is made smaller before it is sent, since models are shown no larger one. A GIF is not, as it would
   stop moving. The longest sides and qualities are tried one after another. */
const MAX_PICTURE_BYTES = 2_800_000, STILL = /^image\/(?!gif|svg)/, STEPS = [[2560, .85], [2048, .8], [1600, .7]];
const SHAPES = {
  clip: "M20 11.5 12 19.4a5 5 0 0 1-7-7l8.4-8.4a3.4 3.4 0 0 1 4.8 4.8l-8.2 8.2a1.7 1.7 0 0 1-2.4-2.4l7.4-7.4",
  file: "M13.5 3.5H6.5v17h11V7.5ZM13.5 3.5v4h4M9.5 12.5h5M9.5 16h5",
  close: "M6 6l12 12M18 6 6 18",
};
const STYLE = `
  .files { display: flex; flex-wrap: wrap; gap: 6px; margin: 6px 0 0; padding: 0; list-style: none; }
  .files li { max-width: 100%; }
  .files[hidden] { display: none; }
  .file { display: inline-flex; align-items: center; gap: 6px; max-width: 100%; min-height: 0; padding: 5px 10px; border: 1px solid var(--line, currentColor); border-radius: 10px; background: none; color: inherit; font: inherit; font-size: .85em; text-align: start; }
  button.file { cursor: pointer; }
  .file svg { width: 16px; height: 16px; flex: none; fill: none; stroke: currentColor; stroke-width: 1.7; }
  .file.picture { display: inline-grid; grid-template-columns: auto 1fr; justify-items: start; }
  .file.picture > svg { display: none; }
  .file span { overflow: hidden; min-width: 0; text-overflow: ellipsis; overflow-wrap: anywhere; }
  .file img { display: block; grid-column: 1 / -1; width: auto; max-width: min(240px, 100%); max-height: 180px; border-radius: 6px; object-fit: contain; }
  .file.failed { border-style: dashed; color: var(--danger, inherit); }
  .chosen { padding: 0 4px 6px; }
  .chosen button, .clip { display: inline-grid; place-items: center; width: 34px; height: 34px; min-height: 0; flex: none; padding: 0; border: 0; border-radius: 50%; background: none; color: inherit; cursor: pointer; }
  .chosen button { width: 24px; height: 24px; }
  .clip svg { width: 20px; height: 20px; fill: none; stroke: currentColor; stroke-width: 1.7; stroke-linecap: round; }
`;
const sheet = new CSSStyleSheet(); // allowed by every content security policy
sheet.replaceSync(STYLE);

const size = (bytes) => (bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} KB` : `${(bytes / 1e6).toFixed(1)} MB`);
const fill = (text, values) => text.replace(/{(\w+)}/g, (_, name) => values[name]);
/* The text of a message that consists only of files. */
export const named = (files) => files.map((file) => file.name).join(", ");

/* Returns the picture in fewer bytes, upright as the camera held it, or null if this is not possible here. */
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
      const blob = await encoded(canvas, pen, quality, !/png|webp/.test(file.type));
      if (blob && blob.size <= MAX_PICTURE_BYTES) return new File([blob], renamed(file.name, blob.type), { type: blob.type });
    }
  } catch { /* the browser cannot read the picture, or lacks memory */ } finally { picture?.close(); }
  return null;
}
/* A transparent picture stays transparent if the browser writes WebP; others become JPEG. */
async function encoded(canvas, pen, quality, opaque) {
  const write = (type) => new Promise((done) => { canvas.toBlob(done, type, quality); });
  if (opaque || !seenThrough(pen.getImageData(0, 0, canvas.width, canvas.height).data)) return write("image/jpeg");
  const blob = await write("image/webp");
  if (blob?.type === "image/webp") return blob;
  pen.globalCompositeOperation = "destination-over";
  pen.fillStyle = "#fff";
  pen.fillRect(0, 0, canvas.width, canvas.height);
  return write("image/jpeg");
}
function seenThrough(pixels) {
  for (let index = 3; index < pixels.length; index += 4) if (pixels[index] < 255) return true;
  return false;
}
const renamed = (name, type) => `${name.replace(/\.\w{1,5}$/, "")}.${type === "image/jpeg" ? "jpg" : "webp"}`;

export class Files {
  #kit; #ask; #conversation;

  /* kit: {make, button, draw} of the page; server: its origin, or "" on its own pages; token(): the reader's token or a
     promise of it; conversation(): its id; root: the document or the shadow root of the chat. */
  constructor(kit, { locale, server, token, conversation, root }) {
    this.#kit = kit;
    this.#conversation = conversation;
    this.#ask = async (path, options) =>
      fetch(server + path, { ...options, headers: { authorization: `Bearer ${await token()}`, "accept-language": locale } });
    this.words = WORDS[locale.slice(0, 2)] || WORDS.en;
    if (!root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
  }

  /* Shows the files in a message of the widget: {body, extras}. */
  show({ body, extras }, { files, text }) {
    extras.prepend(this.shown(files));
    body.hidden = this.isAll(files, text);
  }
  /* Whether a message consists only of files. */
  isAll(files, text) { return text === named(files); }
  /* A list of a message's files: pictures are shown, others can be saved. */
  shown(files) { return this.#kit.make("ul", { class: "files" }, ...files.map((file) => this.#kit.make("li", {}, this.#fileNode(file)))); }
  #fileNode(file) {
    const { make, button } = this.#kit, status = make("small", {}, size(file.size)), label = fill(this.words.open, file);
    const node = button("", () => this.#open(file).catch(() => { status.textContent = this.words.gone; }),
      { class: "file", title: label, "aria-label": label }, this.icon("file"), make("span", { dir: "auto" }, file.name), status);
    if (PICTURE.test(file.type)) {
      this.#link(file).then((src) => {
        // If the page forbids our pictures, the name stays.
        const picture = make("img", { src, alt: file.name, onerror: () => { picture.remove(); node.classList.remove("picture"); } });
        node.prepend(picture);
        node.classList.add("picture");
      }).catch(() => { status.textContent = this.words.gone; });
    }
    return node;
  }
  async #open(file) {
    this.#kit.make("a", { href: await this.#link(file), target: "_blank", rel: "noopener noreferrer", download: file.name }).click();
  }
  /* `of`: the file's conversation, if it is another one. */
  async #link({ id, of }) {
    const answer = await this.#ask(`${this.#path(of)}/${id}/link`);
    if (!answer.ok) throw new Error(this.words.gone);
    return new URL((await answer.json()).url, answer.url).href;
  }
  #path(of = this.#conversation()) { return `/v2/conversations/${encodeURIComponent(of)}/files`; }

  /* Sends a file, a large picture made smaller, and returns the server's description of it. onStatus(text) is called with
     what is being done. Raises Error with a text for the reader. */
  async send(file, onStatus) {
    const tooLarge = STILL.test(file.type) && file.size > MAX_PICTURE_BYTES;
    if (tooLarge) onStatus(this.words.smaller);
    const reduced = tooLarge && await smaller(file, this.#kit.make);
    if (reduced) file = reduced;
    if (file.size > MAX_BYTES) throw new Error(this.words.large);
    onStatus(this.words.sending);
    const { answer, said: stored } = await this.#store(file, [1_000, 3_000, 9_000]);
    if (!answer?.ok) throw new Error(stored?.detail || this.words.away);
    onStatus(tooLarge && !reduced ? fill(this.words.asIs, { size: size(stored.size) }) : size(stored.size));
    return stored;
  }
  /* Returns {answer, said}, or nothing; while the server is away it is tried again after each pause (ms). */
  async #store(file, [pause, ...laterPauses]) {
    let reply = {}, retry = true;
    try {
      const answer = await this.#ask(`${this.#path()}?name=${encodeURIComponent(file.name)}`, { method: "POST", body: file, signal: AbortSignal.timeout(DEADLINE_MS) });
      reply = { answer, said: await answer.json() };
      retry = answer.status >= 500;
    } catch (error) { retry = error.name !== "TimeoutError"; }
    if (!retry || !pause) return reply;
    await new Promise((over) => { setTimeout(over, pause); });
    return this.#store(file, laterPauses);
  }
  /* A picker of files for the next message; storage: {read(), write(files)} of those already sent. Its `changed` is
     called after each change. */
  picker(storage) { return new Picker(this, this.#kit, storage); }
  /* The same, storing in the widget's storage. */
  pickerOfTab(storage) {
    const key = `files:${this.#conversation()}`;
    return this.picker({ read: () => JSON.parse(storage.here(key) || "[]"), write: (files) => storage.setHere(key, files.length ? JSON.stringify(files) : "") });
  }
  icon(name) { return this.#kit.draw("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, this.#kit.draw("path", { d: SHAPES[name] })); }
}

class Picker {
  changed = () => {};
  #files; #kit; #storage; #chosen = []; #last = null;

  constructor(files, kit, storage) {
    this.#files = files;
    this.#kit = kit;
    this.#storage = storage;
    const { make, button } = kit, { attach } = files.words;
    const input = make("input", { type: "file", multiple: true, hidden: true, "aria-label": attach, onchange: () => { this.take(input.files); input.value = ""; } });
    this.node = make("span", {}, button("", () => input.click(), { class: "clip", "aria-label": attach, title: attach }, files.icon("clip")), input);
    this.list = make("ul", { class: "files chosen", hidden: true, "aria-live": "polite" });
    this.put(storage.read());
  }
  get refs() { return this.#chosen.map((entry) => entry.ref).filter(Boolean); }
  get text() { return named(this.refs); }
  get busy() { return this.#chosen.some((entry) => !entry.ref && !entry.failed); }

  /* Takes pictures that are pasted, and files that are dropped, at this place; accepts(): whether they belong to the text
     there. */
  listen(place, accepts = () => true) {
    const takes = (event, data) => { if (data?.files.length) { event.preventDefault(); if (accepts()) this.take(data.files); } };
    place.addEventListener("paste", (event) => takes(event, event.clipboardData));
    place.addEventListener("dragover", (event) => { if (event.dataTransfer?.types.includes("Files")) event.preventDefault(); });
    place.addEventListener("drop", (event) => takes(event, event.dataTransfer));
    return this;
  }
  take(files) {
    for (const file of [...files]) this.#add(file);
    this.#draw();
  }
  /* Adds files that the server has: chosen earlier, or of a message that was refused. */
  put(files) {
    for (const ref of files) {
      const entry = this.#row(ref, size(ref.size));
      if (!entry.failed) entry.ref = ref;
    }
    this.#draw();
  }
  clear() {
    this.#chosen = [];
    this.list.replaceChildren();
    this.#draw();
  }
  #add(file) {
    const entry = this.#row(file, this.#files.words.sending);
    if (entry.failed) return;
    // One after another: the server accepts two at once from a person.
    const send = () => this.#chosen.includes(entry) && this.#files.send(file, entry.tell);
    this.#last = Promise.resolve(this.#last).then(send).then((ref) => { entry.ref = ref; }, (error) => entry.fail(error.message)).finally(() => this.#draw());
  }
  #row(file, text) {
    const { make, button } = this.#kit, { words } = this.#files, remove = fill(words.remove, file), status = make("small", {}, text);
    const row = make("span", { class: "file" }, this.#files.icon("file"), make("span", { dir: "auto" }, file.name), status,
      button("", () => { this.#chosen = this.#chosen.filter((other) => other !== entry); entry.node.remove(); this.#draw(); }, { "aria-label": remove, title: remove }, this.#files.icon("close")));
    const entry = {
      node: make("li", {}, row),
      tell: (words) => { status.textContent = words; },
      fail: (reason) => { entry.failed = true; entry.tell(reason); row.classList.add("failed"); },
    };
    if (this.#chosen.filter((other) => !other.failed).length >= MAX_FILES) entry.fail(words.most);
    this.#chosen.push(entry);
    this.list.append(entry.node);
    return entry;
  }
  #draw() {
    this.list.hidden = !this.#chosen.length;
    this.#storage.write(this.refs);
    this.changed();
  }
}
