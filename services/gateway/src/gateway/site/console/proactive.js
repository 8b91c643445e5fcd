/* The field of what the closed chat says to who stays on a page: the first row that fits. */
import { make } from "./dom.js";
import { lines } from "./person-rules.js";
import { choose, rows } from "./rows.js";
import { LANGUAGES, languageName, say } from "./i18n.js";

export function proactive({ changed }) {
  const draw = (one) => {
    const text = make("textarea", { rows: "2", maxlength: "300", "aria-label": say("proactive_text"), placeholder: say("proactive_text"), oninput: changed });
    text.value = one.text;
    const pages = make("textarea", { rows: "2", "aria-label": say("rule_pages"), placeholder: say("rule_pages"), oninput: changed });
    pages.value = one.pages.join("\n");
    const after = make("input", { type: "number", min: "0", max: "3600", value: one.afterSeconds, "aria-label": say("proactive_after"), oninput: changed });
    const language = make("select", { "aria-label": say("proactive_language"), onchange: changed }, ...["", ...LANGUAGES].map((tongue) => make("option", { value: tongue }, tongue ? languageName(tongue) : say("anyLanguage"))));
    choose(language, one.language || "");
    return {
      nodes: [text, pages, make("label", { class: "row" }, after, say("proactive_after")), language],
      read: () => ({ ...one, text: text.value.trim(), pages: lines(pages.value), afterSeconds: Number(after.value), language: language.value || null }),
    };
  };
  return rows({ changed, draw, blank: () => ({ text: "", pages: [], afterSeconds: 20, language: null }), another: say("addProactive") });
}
