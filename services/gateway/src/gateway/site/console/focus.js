/* Keeps the focus: where its element is redrawn, removed or disabled for a while, what stands there afterwards gets it.
   Otherwise the next key would start at the top of the page, and a letter meant for a field would be a shortcut. */
const FOCUSABLE = "a[href], button, input, select, textarea, summary, [tabindex]";
let last = null, path = [];
const sign = (node) => [node.tagName, node.dataset.id || node.dataset.what || node.getAttribute("aria-label") || node.textContent].join();

addEventListener("focusin", ({ target }) => {
  last = target;
  path = [];
  for (let child = target; child.parentElement; child = child.parentElement) path.push({ child, parent: child.parentElement, index: [...child.parentElement.children].indexOf(child) });
});
/* Who clicks beside everything, or leaves a field by Escape, wants no focus. */
addEventListener("pointerdown", () => { last = null; }, true);
addEventListener("keydown", ({ key }) => { if (key === "Escape" && document.activeElement === document.body) last = null; });

new MutationObserver((records) => {
  if (!last || document.activeElement !== document.body) return;
  if (last.isConnected) {
    if (records.some(({ target, removedNodes }) => target === last || [...removedNodes].some((node) => node.contains(last)))) last.focus({ preventScroll: true });
    return;
  }
  const { child, parent, index } = path.find(({ parent }) => parent.isConnected) || {};
  if (!parent || parent === document.body) return;
  const alike = [...parent.querySelectorAll(FOCUSABLE)].filter((node) => sign(node) === sign(last));
  const removal = records.find(({ addedNodes, removedNodes }) => !addedNodes.length && [...removedNodes].includes(child));
  const beside = [removal?.nextSibling, removal?.previousSibling].find((node) => node?.isConnected && node.focus);
  const next = alike.length === 1 ? alike[0] : beside || parent.children[Math.min(index, parent.children.length - 1)] || parent;
  if (!next.matches(FOCUSABLE)) next.tabIndex = -1;
  next.focus({ preventScroll: true });
}).observe(document, { childList: true, subtree: true, attributeFilter: ["disabled"] });
