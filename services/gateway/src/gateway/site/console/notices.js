/* Tells an agent who looks elsewhere that a visitor waits: by a sound or a browser notification, as the agent chose. The
   choice is stored in the browser, for each agent. */
import { get } from "./api.js";
import { make, button } from "./dom.js";
import { nameOf } from "./inbox.js";
import { showDialog } from "./question.js";
import { isUnread, unreadIds } from "./seen.js";
import { say } from "./i18n.js";

/* A visitor who is answered quickly needs no notice; the AI gets longer. */
const DELAY_MS = 3_000, AI_DELAY_MS = 20_000, MAX_AT_ONCE = 5;

export class Notices {
  #key; #userId; #knownIds = null; #timers = new Set();

  constructor({ company, subject }) {
    this.#userId = subject;
    this.#key = `nexus.console.notices.${company}.${subject}`;
  }
  end() { for (const timer of this.#timers) clearTimeout(timer); }
  /* After a count of unread conversations: those that were unread when the page was opened are not news. */
  counted() {
    const unread = unreadIds();
    const news = this.#knownIds && this.#isOn ? unread.filter((id) => !this.#knownIds.has(id)).slice(0, MAX_AT_ONCE) : [];
    this.#knownIds = new Set(unread);
    for (const id of news) this.#later(id, Date.now());
  }
  /* Opens the dialog in which the agent chooses the notices. */
  choose() {
    const chosen = this.#chosen;
    const sound = make("input", { type: "checkbox", checked: chosen.sound, onchange: () => { this.#keep({ sound: sound.checked }); if (sound.checked) ring(); } });
    const showBox = make("input", { type: "checkbox", checked: chosen.shown, disabled: !("Notification" in window), onchange: () => this.#show(showBox, status) });
    const status = make("p", { class: "hint", role: "status" }, refused() ? say("noticesRefused") : "");
    const dialog = showDialog(say("notices"), [make("p", {}, say("noticesHint")),
      make("p", {}, make("label", {}, sound, " ", say("noticesSound"))),
      make("p", {}, make("label", {}, showBox, " ", say("noticesShown"))), status,
      make("p", { class: "row end" }, button(say("close"), () => dialog.close(), { class: "primary" }))]);
  }

  get #chosen() { try { return JSON.parse(localStorage.getItem(this.#key)) || {}; } catch { return {}; } }
  get #isOn() { const { sound, shown } = this.#chosen; return sound || shown; }
  #keep(changed) { localStorage.setItem(this.#key, JSON.stringify({ ...this.#chosen, ...changed })); }
  /* The browser asks for permission only after the agent ticked the box. */
  async #show(box, status) {
    if (box.checked && Notification.permission !== "granted") await Notification.requestPermission();
    box.checked &&= !refused();
    status.textContent = refused() ? say("noticesRefused") : "";
    this.#keep({ shown: box.checked });
  }
  #later(id, since) {
    const timer = setTimeout(() => { this.#timers.delete(timer); this.#notifyIfUnread(id, since); }, DELAY_MS);
    this.#timers.add(timer);
  }
  async #notifyIfUnread(id, since) {
    if (!isUnread({ id })) return;
    const item = await get(`/v2/conversations/${encodeURIComponent(id)}`).catch(() => null);
    if (!item || (item.assignee && item.assignee !== this.#userId)) return;
    if (item.state === "ai" && Date.now() - since < AI_DELAY_MS) { this.#later(id, since); return; }
    this.#notify(item);
  }
  #notify(item) {
    const address = `#/inbox/${encodeURIComponent(item.id)}`;
    if (document.hasFocus() && location.hash.split("?")[0] === address) return;
    const { sound, shown } = this.#chosen;
    if (sound) ring();
    if (!shown || refused()) return;
    const notification = new Notification(nameOf(item), { body: item.lastMessage?.text.slice(0, 120) || "", tag: item.id });
    notification.onclick = () => { focus(); location.hash = address; notification.close(); };
  }
}

const refused = () => !("Notification" in window) || Notification.permission === "denied";

function ring() {
  const audio = new AudioContext(), tone = audio.createOscillator(), loudness = audio.createGain();
  const start = audio.currentTime;
  tone.frequency.value = 660;
  loudness.gain.setValueAtTime(0.12, start);
  loudness.gain.exponentialRampToValueAtTime(0.001, start + 0.4);
  tone.connect(loudness).connect(audio.destination);
  tone.onended = () => audio.close();
  tone.start();
  tone.stop(start + 0.4);
}
