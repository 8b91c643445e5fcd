/* The field of messages that the closed chat shows to a visitor who stays on a page: the first matching row counts. */
import { make } from "./dom.js";
import { choose, lines, rows } from "./rows.js";
import { LANGUAGES, languageName, say } from "./i18n.js";

export function proactive({ changed }) {
  const draw = (message) => {
    const text = make("textarea", { rows: "2", maxlength: "300", "aria-label": say("proactive_text"), placeholder: say("proactive_text"), oninput: changed });
    text.value = message.text;
    const pages = make("textarea", { rows: "2", "aria-label": say("rule_pages"), placeholder: say("rule_pages"), oninput: changed });
    pages.value = message.pages.join("\n");
    const seconds = make("input", { type: "number", min: "0", max: "3600", value: message.afterSeconds, "aria-label": say("proactive_after"), oninput: changed });
    const language = make("select", { "aria-label": say("proactive_language"), onchange: changed }, ...["", ...LANGUAGES].map((locale) => make("option", { value: locale }, locale ? languageName(locale) : say("anyLanguage"))));
    choose(language, message.language || "");
    return {
      nodes: [text, pages, make("label", { class: "row" }, seconds, say("proactive_after")), language],
      read: () => ({ ...message, text: text.value.trim(), pages: lines(pages.value), afterSeconds: Number(seconds.value), language: language.value || null }),
    };
  };
  return rows({ changed, draw, blank: () => ({ text: "", pages: [], afterSeconds: 20, language: null }), another: say("addProactive") });
}
