/* The texts of the reader's language, and times and figures in its way of writing them. */
import { SHARED, WORDS } from "./words.js";

const KEY = "nexus.console.language";
const wanted = localStorage.getItem(KEY) || navigator.language || "en";
export const LANGUAGES = Object.keys(WORDS);
export const language = LANGUAGES.find((one) => wanted.toLowerCase().startsWith(one)) || "en";
document.documentElement.lang = language;
/* In London the clock has 24 hours, in New York 12; some browsers name a place that is none (en-US@posix). Also what the
   modules that the widget has too (figures.js, charts.js) import. */
export const locale = new RegExp(`^${language}-[A-Z]{2}$`).test(navigator.language) ? navigator.language : language;
export const words = SHARED[language];

/* A text, its {places} filled. A name that the catalogue lacks is an error that a test finds, not an empty button. */
export const say = (name, places = {}) => {
  const text = WORDS[language][name];
  if (text === undefined) throw new Error(`no words for ${name}`);
  return fill(text, places);
};
export const fill = (text, places) => text.replace(/\{(\w+)\}/g, (whole, place) => places[place] ?? whole);
/* A language by its name in the reader's language, or by its own. */
export const languageName = (tongue) => new Intl.DisplayNames(language, { type: "language" }).of(tongue);
export const ownName = (tongue) => {
  const name = new Intl.DisplayNames(tongue, { type: "language" }).of(tongue);
  return name[0].toUpperCase() + name.slice(1);
};
export const speak = (other) => { localStorage.setItem(KEY, other); location.reload(); };

const clock = new Intl.DateTimeFormat(locale, { hour: "numeric", minute: "2-digit" });
const calendar = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short" });
const whole = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "medium" });
export const number = new Intl.NumberFormat(locale);
export const percent = new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 1 });
export const money = (amount, currency = "USD") =>
  new Intl.NumberFormat(locale, { style: "currency", currency, maximumFractionDigits: amount < 1 ? 4 : 2 }).format(amount);
/* What so many tokens cost. What has no price is said to be so: it is not free; where no model was asked there is nothing to pay. */
export const cost = (amount, currency, tokens) => (amount ? money(amount, currency) : tokens ? say("noPrice") : "–");
export const moment = (stamp) => {
  const at = new Date(stamp);
  return at.toDateString() === new Date().toDateString() ? clock.format(at) : calendar.format(at);
};
/* A day of UTC, 2026-01-31, in the reader's way of writing it. */
export const dayOf = (day) => calendar.format(new Date(`${day}T12:00`));
export const exactly = (stamp) => whole.format(new Date(stamp));

/* How long ago, or how long it takes: 45 s, 3 min, 2 h, 4 d. */
export const span = (milliseconds) => {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  return seconds < 86400 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86400)} d`;
};
