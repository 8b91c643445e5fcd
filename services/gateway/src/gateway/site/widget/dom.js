/* Makes nodes, never markup: texts of people, pages and models stay texts. */
export const make = (tag, attributes = {}, ...children) => fitted(document.createElement(tag), attributes, children);
export const draw = (tag, attributes = {}, ...children) =>
  fitted(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

const fitted = (node, attributes, children) => {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== false && value != null) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child != null && child !== false));
  return node;
};
export const button = (label, onclick, attributes = {}, ...children) =>
  make("button", { type: "button", onclick, ...attributes }, ...(children.length ? children : [label]));

/* Icons drawn with one stroke, 24 by 24: not every machine has a font with icons. */
const SHAPES = {
  chat: "M20 11.5a7.5 7.5 0 0 1-11 6.6L4 19.5l1.4-4.6A7.5 7.5 0 1 1 20 11.5Z",
  down: "m6 9 6 6 6-6",
  close: "M6 6l12 12M18 6 6 18",
  send: "M12 19V5M5.5 11.5 12 5l6.5 6.5",
  person: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM4.5 20.5a7.5 7.5 0 0 1 15 0",
  check: "m5 12.5 4.5 4.5L19 7.5",
  warning: "M12 9v4.5M12 17v.1M10.6 4.5 3 18a1.6 1.6 0 0 0 1.4 2.4h15.2A1.6 1.6 0 0 0 21 18L13.4 4.5a1.6 1.6 0 0 0-2.8 0Z",
  stop: "M7 7h10v10H7Z",
  spark: "M12 3.5c.6 4.9 3.6 7.9 8.5 8.5-4.9.6-7.9 3.6-8.5 8.5-.6-4.9-3.6-7.9-8.5-8.5 4.9-.6 7.9-3.6 8.5-8.5Z",
  clock: "M12 20.5a8.5 8.5 0 1 0 0-17 8.5 8.5 0 0 0 0 17ZM12 7.5V12l3 2",
  retry: "M19.5 12a7.5 7.5 0 1 1-2.2-5.3M19.5 3.5v4.5h-4.5",
};
/* name: one of these, or the shape itself if only beside.js draws it. */
export const icon = (name, turned = false) =>
  draw("svg", { viewBox: "0 0 24 24", class: turned ? "icon turned" : "icon", "aria-hidden": "true" },
    draw("path", { d: SHAPES[name] || name }));
