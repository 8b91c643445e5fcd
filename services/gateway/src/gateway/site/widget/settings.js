/* What the host page says about the chat: the attributes of the script tag. */
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
/* What the company says of its assistant, by language, where the tag does not. */
export const present = ({ name, greeting, suggestions }) => {
  const spoken = (texts = {}) => texts[locale.slice(0, 2)] || Object.values(texts)[0];
  if (!given.title && name) host.title = name;
  if (!given.greeting) host.greeting = spoken(greeting) || words.greeting;
  if (given.suggestions === undefined) host.suggestions = spoken(suggestions) || [];
};
/* Where the reader is: looked at when it is told, so that a page that changes without loading is noticed; what the page
   itself says holds until its address is another. */
let said = null;
export const page = () => {
  const { url, title } = (said && said.at === location.href && said) || {};
  return { url: String(url || location.href).slice(0, 2048), title: String(title || document.title).slice(0, 300) };
};
/* Where they were before in this tab, on this site, and nobody has been told: by the history of browsers that tell it. */
let told = 0;
export const visited = () => window.navigation?.entries().slice(told, told = navigation.currentEntry?.index).map((one) => one.url);
export const onPage = ({ url, title } = {}) => { said = { url: url && new URL(url, location.href).href, title, at: location.href }; };
