/* What the host page says about the chat: the attributes of the script tag. */
import { given, script, words } from "./saying.js";

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
