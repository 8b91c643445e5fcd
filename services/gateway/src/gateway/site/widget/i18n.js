/* The chat's language and its texts. */
import { WORDS } from "./words.js";

export const script = document.currentScript || document.querySelector("script[src*='/widget.js']");
export const given = script.dataset;

/* The first supported language of: the tag's, the page's, the reader's. */
const wished = [given.locale, document.documentElement.lang, ...(navigator.languages || [])].filter(Boolean);
const language = (tag) => tag.toLowerCase().split(/[-_]/)[0];
const spoken = (tag) => WORDS[language(tag)];
/* Pages use en_US and worse; of an invalid BCP 47 tag only the language counts. */
const proper = (tag) => { try { return Intl.getCanonicalLocales(tag)[0]; } catch { return language(tag); } };

const found = proper(wished.find(spoken) || "en");
/* The reader's region is used if the tag has none: a page in "en" read in London uses 24 hours. */
export const locale = found.includes("-") ? found : proper(wished.find((tag) => tag.startsWith(`${found}-`)) || found);
export const words = spoken(locale);
/* Fills the places of a text: fill("{name} is writing", { name }). */
export const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
