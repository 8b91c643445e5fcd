/* What the modules that the widget has too (figures.js, charts.js) ask for: the reader's language, and their words. */
import { SHARED } from "./words.js";
import { language } from "./words-of.js";

export { fill } from "./words-of.js";
export const locale = language;
export const words = SHARED[language];
