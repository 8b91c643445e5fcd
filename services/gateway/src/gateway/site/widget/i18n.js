/* The language that is spoken here, and its words. */
import { WORDS } from "./words.js";

export const script = document.currentScript || document.querySelector("script[src*='/widget.js']");
export const given = script.dataset;

/* The first language that is spoken here, of: the tag's, the page's, the reader's. */
const wished = [given.locale, document.documentElement.lang, ...(navigator.languages || [])].filter(Boolean);
const language = (tag) => tag.toLowerCase().split(/[-_]/)[0];
const spoken = (tag) => WORDS[language(tag)];
/* Pages write en_US and worse; what is no tag by BCP 47 counts as its language alone. */
const proper = (tag) => { try { return Intl.getCanonicalLocales(tag)[0]; } catch { return language(tag); } };

const found = proper(wished.find(spoken) || "en");
/* A page in "en" that is read in London has London's clock. */
export const locale = found.includes("-") ? found : proper(wished.find((tag) => tag.startsWith(`${found}-`)) || found);
export const words = spoken(locale);
/* Texts with places: fill("{name} is writing", { name }). */
export const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
