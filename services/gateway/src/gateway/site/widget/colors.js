/* Makes a company's colour readable on light and on dark: contrast as in WCAG 2.2 (relative luminance). */
const SURFACES = [[255, 255, 255], [19, 26, 24]]; // light, dark
const DARK_INK = "#06211c", READABLE = 4.6, VISIBLE = 3;

const luminance = (rgb) => {
  const [r, g, b] = rgb.map((part) => { const share = part / 255; return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4; });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (first, second) => {
  const [low, high] = [luminance(first), luminance(second)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
};
const parse = (hex) => [1, 3, 5].map((index) => parseInt(hex.slice(index, index + 2), 16));
const hexOf = (rgb) => `#${rgb.map((part) => Math.round(part).toString(16).padStart(2, "0")).join("")}`;
const towards = (rgb, target, share) => rgb.map((part, index) => part + (target[index] - part) * share);

/* The nearest shade with at least this contrast to the surface. */
const fit = (rgb, surface, least) => {
  const target = luminance(surface) > 0.5 ? [0, 0, 0] : [255, 255, 255];
  for (let share = 0; share < 1; share += 0.05) {
    const shade = towards(rgb, target, share);
    if (contrast(shade, surface) >= least) return shade;
  }
  return target;
};

/* The custom properties of tokens.css for one colour (#rrggbb); null for anything else. */
export function palette(color) {
  if (!/^#[0-9a-f]{6}$/i.test(color || "")) return null;
  const brand = parse(color);
  const [light, dark] = SURFACES.map((surface) => {
    const accent = fit(brand, surface, VISIBLE);
    const onAccent = contrast(accent, [255, 255, 255]) >= READABLE - 0.1 ? "#ffffff" : contrast(accent, parse(DARK_INK)) >= READABLE - 0.1 ? DARK_INK : "#000000";
    const strong = towards(accent, onAccent === "#ffffff" ? [0, 0, 0] : [255, 255, 255], 0.15);
    const soft = towards(brand, surface, 0.88);
    const ink = fit(brand, towards(brand, surface, 0.85), READABLE);
    return { "--accent": hexOf(accent), "--accent-strong": hexOf(strong), "--accent-ink": hexOf(ink), "--accent-soft": hexOf(soft), "--on-accent": onAccent };
  });
  return Object.fromEntries(Object.keys(light).map((name) => [name, `light-dark(${light[name]}, ${dark[name]})`]));
}
