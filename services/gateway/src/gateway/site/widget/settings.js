/* The host page's choices for the chat: the attributes of the script tag. */
import { given, locale, script, words } from "./i18n.js";

if (!given.company) throw new Error('Nexus: the script tag lacks data-company: <script src="…/widget.js" data-company="your-company" defer>');
export const server = new URL(given.server || script.src, location.href).origin;
export const company = given.company;
export const host = {
  title: given.title || words.title,
  greeting: given.greeting || words.greeting,
  suggestions: (given.suggestions || "").split("|").map((text) => text.trim()).filter(Boolean),
  theme: given.theme || "auto",
  color: given.color || "",
  side: given.position === "left" ? "left" : "right",
  launcher: given.launcher !== "none",
};
/* The company's texts for its assistant, by language, where the tag sets none. */
export const present = ({ name, greeting, suggestions }) => {
  const spoken = (texts = {}) => texts[locale.slice(0, 2)] || Object.values(texts)[0];
  if (!given.title && name) host.title = name;
  if (!given.greeting) host.greeting = spoken(greeting) || words.greeting;
  if (given.suggestions === undefined) host.suggestions = spoken(suggestions) || [];
};
/* Where the reader is, read when it is sent, since a page may change without loading. What the page says itself counts
   until its address changes. */
let current = null;
export const page = () => {
  const { url, title } = (current && current.at === location.href && current) || {};
  return { url: String(url || location.href).slice(0, 2048), title: String(title || document.title).slice(0, 300) };
};
/* Addresses of this site visited before in this tab and not yet sent, if the browser has a readable history. */
let told = 0;
export const visited = () => window.navigation?.entries().slice(told, told = navigation.currentEntry?.index).map((entry) => entry.url);
export const onPage = ({ url, title } = {}) => { current = { url: url && new URL(url, location.href).href, title, at: location.href }; };
