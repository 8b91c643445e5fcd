/* The texts of the reader's language, and dates and numbers in its format. */
import { SHARED, WORDS } from "./words.js";

const KEY = "nexus.console.language";
const preferred = localStorage.getItem(KEY) || navigator.language || "en";
export const LANGUAGES = Object.keys(WORDS);
export const language = LANGUAGES.find((candidate) => preferred.toLowerCase().startsWith(candidate)) || "en";
document.documentElement.lang = language;
/* The region decides between 24 and 12 hours; some browsers report an invalid region (en-US@posix). `locale` and `words`
   are also imported by modules that the widget has too (figures.js, charts.js). */
export const locale = new RegExp(`^${language}-[A-Z]{2}$`).test(navigator.language) ? navigator.language : language;
export const words = SHARED[language];

/* Returns a text with its {places} filled in. An unknown name is an error, so that a test finds it. */
export const say = (name, places = {}) => {
  const text = WORDS[language][name];
  if (text === undefined) throw new Error(`no words for ${name}`);
  return fill(text, places);
};
export const fill = (text, places) => text.replace(/\{(\w+)\}/g, (match, place) => places[place] ?? match);
/* The name of a language in the reader's language, and in its own. */
export const languageName = (locale) => new Intl.DisplayNames(language, { type: "language" }).of(locale);
export const ownName = (locale) => {
  const name = new Intl.DisplayNames(locale, { type: "language" }).of(locale);
  return name[0].toUpperCase() + name.slice(1);
};
export const speak = (chosen) => { localStorage.setItem(KEY, chosen); location.reload(); };

const clock = new Intl.DateTimeFormat(locale, { hour: "numeric", minute: "2-digit" });
const calendar = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short" });
const dateAndTime = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" });
export const number = new Intl.NumberFormat(locale);
export const percent = new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 1 });
export const money = (amount, currency = "USD") =>
  new Intl.NumberFormat(locale, { style: "currency", currency, maximumFractionDigits: amount < 1 ? 4 : 2 }).format(amount);
/* The cost of so many tokens. "No price" is not the same as free; without tokens there is no cost. */
export const cost = (amount, currency, tokens) => (amount ? money(amount, currency) : tokens ? say("noPrice") : "–");
export const moment = (stamp) => {
  const time = new Date(stamp);
  return time.toDateString() === new Date().toDateString() ? clock.format(time) : calendar.format(time);
};
/* A UTC day, 2026-01-31, in the reader's format. */
export const dayOf = (day) => calendar.format(new Date(`${day}T12:00`));
export const exactly = (stamp) => dateAndTime.format(new Date(stamp));

/* A duration: 45 s, 3 min, 2 h, 4 d. */
export const span = (milliseconds) => {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  return seconds < 86400 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86400)} d`;
};
