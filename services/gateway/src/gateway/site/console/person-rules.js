/* The field of rules for what goes to a person first, and what never does: the first matching row counts. */
import { make } from "./dom.js";
import { choose, lines, rows } from "./rows.js";
import { say } from "./i18n.js";

const PLANS = ["free", "pro", "premium"];

export function personRules({ changed }) {
  const draw = (rule) => {
    const to = make("select", { "aria-label": say("ruleTo"), onchange: changed }, ...["person", "never"].map((target) => make("option", { value: target }, say(`rule_${target}`))));
    choose(to, rule.to);
    const list = (name) => {
      const input = make("textarea", { rows: "2", "aria-label": say(`rule_${name}`), placeholder: say(`rule_${name}`), oninput: changed });
      input.value = rule[name].join("\n");
      return input;
    };
    const words = list("words"), topics = list("topics"), pages = list("pages");
    const plans = [...new Set([...PLANS, ...rule.plans])].map((plan) => make("input", { type: "checkbox", value: plan, checked: rule.plans.includes(plan), onchange: changed }));
    return {
      nodes: [to, words, topics, pages, make("div", { class: "row days", role: "group", "aria-label": say("rule_plans") }, ...plans.map((box) => make("label", {}, box, box.value)))],
      read: () => ({ ...rule, to: to.value, words: lines(words.value), topics: lines(topics.value), plans: plans.filter((box) => box.checked).map((box) => box.value), pages: lines(pages.value) }),
    };
  };
  return rows({ changed, draw, blank: () => ({ to: "person", words: [], topics: [], plans: [], pages: [] }), another: say("addRule") });
}
