/* Prices, amounts and times in the format of the reader's language. */
import { locale } from "./i18n.js";

const formats = new Map();
const format = (Kind, options) => {
  const key = Kind.name + JSON.stringify(options);
  if (!formats.has(key)) formats.set(key, new Kind(locale, options));
  return formats.get(key);
};

export const price = (value) => {
  const size = Math.abs(value), most = size !== 0 && size < 1 ? 6 : 2;
  return format(Intl.NumberFormat, { minimumFractionDigits: most === 2 ? 2 : 0, maximumFractionDigits: most }).format(value);
};
export const quantity = (value) => format(Intl.NumberFormat, { maximumFractionDigits: 8 }).format(value);
export const percent = (share) =>
  format(Intl.NumberFormat, { style: "percent", signDisplay: "exceptZero", minimumFractionDigits: 2, maximumFractionDigits: 2 }).format(share);
export const time = (value) => format(Intl.DateTimeFormat, { hour: "numeric", minute: "2-digit" }).format(value);
/* The year, unless it is this one. */
const year = (value) => new Date(value).getFullYear() !== new Date().getFullYear() && { year: "numeric" };
export const day = (value) => format(Intl.DateTimeFormat, { weekday: "long", day: "numeric", month: "long", ...year(value) }).format(value);
export const moment = (value) =>
  format(Intl.DateTimeFormat, { day: "numeric", month: "short", ...year(value), hour: "numeric", minute: "2-digit" }).format(value);
/* A bar's time in UTC: the day, with the hour if bars are shorter. */
export const barTime = (value, short) => format(Intl.DateTimeFormat,
  short ? { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", timeZone: "UTC" }
    : { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" }).format(value);
export const countdown = (seconds) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;
