/* What the browser stores for one person at one company: token, conversation, unsent messages. Each message has a key of
   its own, so that two tabs do not overwrite each other's. */
import { company, server } from "./settings.js";

const memory = new Map(); // if storage is forbidden, only this page remembers
const storage = (area) => { try { return window[area]; } catch { return null; } };
const read = (area, key) => { try { return storage(area).getItem(key); } catch { return memory.get(key) ?? null; } };
const write = (area, key, text) => {
  try { text === null ? storage(area).removeItem(key) : storage(area).setItem(key, text); }
  catch { text === null ? memory.delete(key) : memory.set(key, text); }
};
const parsed = (text) => { try { return JSON.parse(text); } catch { return null; } };

export class PersonStorage {
  #prefix;
  constructor(whose) { this.#prefix = `nexus:${server}:${company}:${whose}:`; }

  get(name) { return parsed(read("localStorage", this.#prefix + name)); }
  set(name, value) { write("localStorage", this.#prefix + name, value == null ? null : JSON.stringify(value)); }

  /* What belongs to this tab alone: whether the chat is open, and unsent text. */
  here(name) { return read("sessionStorage", this.#prefix + name) || ""; }
  setHere(name, text) { write("sessionStorage", this.#prefix + name, text || null); }

  /* Messages not known to be stored, oldest first: {id, text, at, tried}. */
  waiting() {
    const prefix = `${this.#prefix}out:`;
    let keys = [...memory.keys()];
    try { keys = keys.concat(Object.keys(localStorage)); } catch { /* no storage */ }
    return keys.filter((key) => key.startsWith(prefix)).map((key) => parsed(read("localStorage", key)))
      .filter((entry) => entry && entry.id && entry.text).sort((first, second) => first.at - second.at);
  }
  keep(entry) { this.set(`out:${entry.id}`, entry); }
  settle(id) { this.set(`out:${id}`, null); }
}

export const uuid = () => {
  // crypto.randomUUID exists only on pages over https.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 15) | 64;
  bytes[8] = (bytes[8] & 63) | 128;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
};
