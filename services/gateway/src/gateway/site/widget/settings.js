/* What the host page says about the chat: the attributes of the script tag. */
import { WORDS } from "./words.js";

const script = document.currentScript || document.querySelector("script[src*='/widget.js']");
const given = script.dataset;

/* The first language that is spoken here, of: the tag's, the page's, the reader's. */
const wished = [given.locale, document.documentElement.lang, ...(navigator.languages || [])].filter(Boolean);
const language = (tag) => tag.toLowerCase().split(/[-_]/)[0];
const spoken = (tag) => WORDS[language(tag)];
/* Pages write en_US and worse; what is no tag by BCP 47 counts as its language alone. */
const proper = (tag) => { try { return Intl.getCanonicalLocales(tag)[0]; } catch { return language(tag); } };

export const locale = proper(wished.find(spoken) || "en");
export const words = spoken(locale);
/* Texts with places: fill("{name} is writing", { name }). */
export const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);

export const server = new URL(given.server || script.src, location.href).origin;
export const company = given.company || "demo";
export const host = {
  title: given.title || words.title,
  greeting: given.greeting || words.greeting,
  suggestions: (given.suggestions || "").split("|").map((text) => text.trim()).filter(Boolean),
  theme: given.theme || "auto",
  color: given.color || "",
  side: given.position === "left" ? "left" : "right",
  launcher: given.launcher !== "none",
};
export const page = () => ({ url: location.href.slice(0, 2048), title: document.title.slice(0, 300) });
