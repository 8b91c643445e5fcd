/* Telling an agent who looks elsewhere that a visitor waits: by a sound, by a notification of the browser. Only as they have
   asked for it, and for each agent apart: what a browser may do is its own to say, so it is kept in the browser. */
import { get } from "./api.js";
import { make, button } from "./dom.js";
import { nameOf } from "./inbox.js";
import { isUnread, unreadIds } from "./seen.js";
import { say } from "./i18n.js";

/* Whoever is answered at once needs nobody, and the AI is given longer. */
const SOON = 3_000, AI = 20_000, MOST_AT_ONCE = 5;

export class Notices {
  #key; #mine; #known = null; #timers = new Set();

  constructor({ company, subject }) {
    this.#mine = subject;
    this.#key = `nexus.console.notices.${company}.${subject}`;
  }
  end() { for (const timer of this.#timers) clearTimeout(timer); }
  /* What is unread has been counted: what was so when the page was opened is no news. */
  counted() {
    const now = unreadIds();
    const news = this.#known && this.#on ? now.filter((id) => !this.#known.has(id)).slice(0, MOST_AT_ONCE) : [];
    this.#known = new Set(now);
    for (const id of news) this.#later(id, Date.now());
  }
  /* What one wants to be told by. */
  choose() {
    const chosen = this.#chosen;
    const sound = make("input", { type: "checkbox", checked: chosen.sound, onchange: () => { this.#keep({ sound: sound.checked }); if (sound.checked) ring(); } });
    const shown = make("input", { type: "checkbox", checked: chosen.shown, disabled: !("Notification" in window), onchange: () => this.#show(shown, told) });
    const told = make("p", { class: "hint", role: "status" }, refused() ? say("noticesRefused") : "");
    const dialog = make("dialog", { "aria-labelledby": "notices-title", onclose: () => dialog.remove() },
      make("h2", { id: "notices-title" }, say("notices")), make("p", {}, say("noticesHint")),
      make("p", {}, make("label", {}, sound, " ", say("noticesSound"))),
      make("p", {}, make("label", {}, shown, " ", say("noticesShown"))), told,
      make("p", { class: "row end" }, button(say("close"), () => dialog.close(), { class: "primary" })));
    document.body.append(dialog);
    dialog.showModal();
  }

  get #chosen() { try { return JSON.parse(localStorage.getItem(this.#key)) || {}; } catch { return {}; } }
  get #on() { const { sound, shown } = this.#chosen; return sound || shown; }
  #keep(changed) { localStorage.setItem(this.#key, JSON.stringify({ ...this.#chosen, ...changed })); }
  /* The browser asks, and only because one has just asked for it. */
  async #show(box, told) {
    if (box.checked && Notification.permission !== "granted") await Notification.requestPermission();
    box.checked &&= !refused();
    told.textContent = refused() ? say("noticesRefused") : "";
    this.#keep({ shown: box.checked });
  }
  #later(id, since) {
    const timer = setTimeout(() => { this.#timers.delete(timer); this.#look(id, since); }, SOON);
    this.#timers.add(timer);
  }
  async #look(id, since) {
    if (!isUnread({ id })) return;
    const item = await get(`/v2/conversations/${encodeURIComponent(id)}`).catch(() => null);
    if (!item || (item.assignee && item.assignee !== this.#mine)) return;
    if (item.state === "ai" && Date.now() - since < AI) { this.#later(id, since); return; }
    this.#tell(item);
  }
  #tell(item) {
    const here = `#/inbox/${encodeURIComponent(item.id)}`;
    if (document.hasFocus() && location.hash.split("?")[0] === here) return;
    const { sound, shown } = this.#chosen;
    if (sound) ring();
    if (!shown || refused()) return;
    const said = new Notification(nameOf(item), { body: item.lastMessage?.text.slice(0, 120) || "", tag: item.id });
    said.onclick = () => { focus(); location.hash = here; said.close(); };
  }
}

const refused = () => !("Notification" in window) || Notification.permission === "denied";

function ring() {
  const audio = new AudioContext(), tone = audio.createOscillator(), loudness = audio.createGain();
  const now = audio.currentTime;
  tone.frequency.value = 660;
  loudness.gain.setValueAtTime(0.12, now);
  loudness.gain.exponentialRampToValueAtTime(0.001, now + 0.4);
  tone.connect(loudness).connect(audio.destination);
  tone.onended = () => audio.close();
  tone.start();
  tone.stop(now + 0.4);
}
