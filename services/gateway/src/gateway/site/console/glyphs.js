/* Drawn signs, one stroke, 24 by 24: not every machine has a font with pictures. */
import { draw } from "./dom.js";

const SHAPES = {
  mark: "M5 19V5l14 14V5",
  inbox: "M3.5 13.5 6 5h12l2.5 8.5v5.5h-17ZM3.5 13.5h5l1.5 2.5h4l1.5-2.5h5",
  settings: "M4 7h9M17 7h3M4 17h3M11 17h9M15 9.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM9 19.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5Z",
  usage: "M4.5 19.5v-6M10 19.5V8M15.5 19.5v-9M20.5 19.5V4.5",
  failed: "M12 9v4.5M12 17v.1M10.6 4.5 3 18a1.6 1.6 0 0 0 1.4 2.4h15.2A1.6 1.6 0 0 0 21 18L13.4 4.5a1.6 1.6 0 0 0-2.8 0Z",
  theme: "M12 3.5a8.5 8.5 0 1 0 0 17ZM12 3.5a8.5 8.5 0 0 1 0 17",
  globe: "M12 20.5a8.5 8.5 0 1 0 0-17 8.5 8.5 0 0 0 0 17ZM3.5 12h17M12 3.5c5 5 5 12 0 17M12 3.5c-5 5-5 12 0 17",
  leave: "M14 4.5H5.5v15H14M10 12h10.5M17 8.5l3.5 3.5-3.5 3.5",
  back: "M14.5 6 8.5 12l6 6",
  person: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM4.5 20.5a7.5 7.5 0 0 1 15 0",
  spark: "M12 3.5c.6 4.9 3.6 7.9 8.5 8.5-4.9.6-7.9 3.6-8.5 8.5-.6-4.9-3.6-7.9-8.5-8.5 4.9-.6 7.9-3.6 8.5-8.5Z",
  stop: "M7 7h10v10H7Z",
  file: "M13.5 3.5H6.5v17h11V7.5ZM13.5 3.5v4h4M9.5 12.5h5M9.5 16h5",
  why: "M12 20.5a8.5 8.5 0 1 0 0-17 8.5 8.5 0 0 0 0 17ZM9.5 9.5a2.5 2.5 0 1 1 3.6 2.2c-.7.4-1.1 1-1.1 1.8M12 16.6v.1",
  clock: "M12 20.5a8.5 8.5 0 1 0 0-17 8.5 8.5 0 0 0 0 17ZM12 7.5V12l3 2",
};
export const glyph = (name) =>
  draw("svg", { viewBox: "0 0 24 24", class: "glyph", "aria-hidden": "true" }, draw("path", { d: SHAPES[name] }));
