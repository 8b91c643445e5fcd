/* The field of a company's office hours: time zone, rows of days with their hours, holidays, and whether visitors are
   asked for an address outside them. No rows: people are always there. */
import { make } from "./dom.js";
import { lines, rows } from "./rows.js";
import { language, say } from "./i18n.js";

const DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
const weekdayFormat = new Intl.DateTimeFormat(language, { weekday: "short", timeZone: "UTC" });
const nameOf = (day) => weekdayFormat.format(new Date(Date.UTC(2024, 0, 1 + DAYS.indexOf(day)))); // a Monday

const under = (name, field) => make("label", { class: "under" }, say(name), field);

export function officeHours({ changed }) {
  const zone = make("input", { type: "text", class: "mono", spellcheck: "false", maxlength: 64, placeholder: "Europe/Madrid", oninput: changed });
  const holidays = make("textarea", { rows: "2", class: "mono", spellcheck: "false", placeholder: "2026-12-25", oninput: changed });
  const address = make("input", { type: "checkbox", onchange: changed });
  let saved = {};
  const draw = (hours) => {
    const { days, opens, closes } = hours;
    const boxes = DAYS.map((day) => make("input", { type: "checkbox", value: day, checked: days.includes(day), onchange: changed }));
    const time = (name, value) => make("input", { type: "text", class: "mono", size: "5", maxlength: 5, placeholder: "09:00", value, "aria-label": say(name), oninput: changed });
    const from = time("hoursOpens", opens), to = time("hoursCloses", closes);
    return {
      nodes: [make("div", { class: "row days" }, ...boxes.map((box) => make("label", {}, box, nameOf(box.value)))), make("div", { class: "row hours" }, from, "–", to)],
      read: () => ({ ...hours, days: boxes.filter((box) => box.checked).map((box) => box.value), opens: from.value.trim(), closes: to.value.trim() }),
    };
  };
  const blank = () => {
    zone.value ||= Intl.DateTimeFormat().resolvedOptions().timeZone;
    return { days: DAYS.slice(0, 5), opens: "09:00", closes: "18:00" };
  };
  const times = rows({ changed, draw, blank, another: say("addHours") });
  return {
    node: make("div", {}, times.node, under("setting_timeZone", zone), under("hoursHolidays", holidays), make("label", {}, address, say("hoursAddress"))), inputs: [zone, holidays, address], group: true,
    read() {
      const hours = times.read();
      return hours.length ? { ...saved, timezone: zone.value.trim(), hours, holidays: lines(holidays.value), askAddress: address.checked } : null;
    },
    show(value) {
      saved = value ?? {};
      times.show(value?.hours);
      zone.value = value?.timezone ?? "";
      address.checked = value?.askAddress ?? false;
      holidays.value = (value?.holidays ?? []).join("\n");
    },
  };
}
