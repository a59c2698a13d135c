// The last resort: hides what lies over most of the window and keeps the page from being seen or used.
() => {
  const KEPT = new Set(["HTML", "BODY", "MAIN", "HEADER", "NAV", "FOOTER"]);
  const body = document.body;
  if (!body) return 0;
  const isLocked = [document.documentElement, body].some((element) => {
    const { overflowY, position } = getComputedStyle(element);
    return /hidden|clip/.test(overflowY) || position === "fixed";
  });
  // What takes a click on the window's middle, in the innermost open shadow tree.
  const atCentre = () => {
    let found = document.elementFromPoint(innerWidth / 2, innerHeight / 2);
    for (let root = found && found.shadowRoot; root; root = found.shadowRoot) {
      const inner = root.elementFromPoint(innerWidth / 2, innerHeight / 2);
      if (!inner || inner === found) break;
      found = inner;
    }
    return found;
  };
  // Every element, those in open shadow trees included.
  const all = function* (root) {
    for (const element of root.querySelectorAll("*")) {
      yield element;
      if (element.shadowRoot) yield* all(element.shadowRoot);
    }
  };
  let centre = atCentre();
  const isUnderCentre = (element) => {
    for (let at = centre; at; at = at.parentNode || at.host) if (at === element) return true;
    return false;
  };
  const covers = (element) => {
    const box = element.getBoundingClientRect();
    const width = Math.min(box.right, innerWidth) - Math.max(box.left, 0);
    const height = Math.min(box.bottom, innerHeight) - Math.max(box.top, 0);
    return Math.max(width, 0) * Math.max(height, 0) > 0.4 * innerWidth * innerHeight;
  };
  let hidden = 0;
  for (const element of all(body)) {
    if (KEPT.has(element.tagName)) continue;
    const style = getComputedStyle(element);
    if (!/^(fixed|absolute)$/.test(style.position) || !(Number(style.zIndex) >= 10)) continue;
    if (style.visibility === "hidden" || style.display === "none" || !covers(element)) continue;
    if (!isLocked && !isUnderCentre(element)) continue;
    element.style.setProperty("visibility", "hidden", "important");
    for (const inner of all(element)) inner.style.setProperty("visibility", "hidden", "important");
    centre = atCentre();
    hidden += 1;
  }
  return hidden;
}
