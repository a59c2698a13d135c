// What lies over the page and can be pressed: descriptions for the choice, elements for the one that is chosen.
([isFramed, vendors]) => {
  const HINTS = /cookie|consent|gdpr|privacy|newsletter|modal|popup|pop-up|overlay|dialog|age-?gate|geo|banner|notice/i;
  const CONTROLS = "button, [role=button], a, input[type=button], input[type=submit], [aria-label], [class*=close i]";
  const MOST = 40;
  const elements = [];
  const popups = [];

  const isShown = (element) => {
    const box = element.getBoundingClientRect();
    return box.width > 1 && box.height > 1 && box.bottom > 0 && box.right > 0 && box.top < innerHeight &&
      box.left < innerWidth && element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  };

  // Every element, those in open shadow trees included.
  const all = function* (root) {
    for (const element of root.querySelectorAll("*")) {
      yield element;
      if (element.shadowRoot) yield* all(element.shadowRoot);
    }
  };

  const hintsOf = (element) =>
    [element.id, typeof element.className === "string" ? element.className : "", element.getAttribute("role") || "",
      element.getAttribute("aria-label") || ""].join(" ").slice(0, 300);

  const isDialog = (element) =>
    element.matches("[role=dialog], [role=alertdialog], [aria-modal=true], dialog[open]");

  const isOver = (element) => {
    const { position, zIndex } = getComputedStyle(element);
    const box = element.getBoundingClientRect();
    if (!/fixed|sticky|absolute/.test(position) || box.width < 120 || box.height < 30) return false;
    if (HINTS.test(hintsOf(element))) return true;
    return position === "fixed" && !element.matches("header, nav") || (position === "absolute" && Number(zIndex) >= 10);
  };

  const textOf = (element) => [...texts(element)].join(" ").replace(/\s+/g, " ").trim();
  const texts = function* (root) {
    yield root.innerText || root.textContent || "";
    for (const element of all(root)) if (element.shadowRoot) yield element.shadowRoot.textContent || "";
  };

  const vendorOf = (element) => vendors.find(({ popup }) => element.matches(popup));

  const controlOf = (element, vendor) => {
    const href = element.tagName === "A" ? element.getAttribute("href") || "" : "";
    elements.push(element);
    return {
      index: elements.length - 1,
      label: (element.innerText || element.value || element.textContent || "").replace(/\s+/g, " ").trim().slice(0, 80),
      name: (element.getAttribute("aria-label") || element.getAttribute("title") || "").trim().slice(0, 80),
      hints: hintsOf(element),
      leadsAway: href !== "" && !href.startsWith("#") && !/^javascript:/i.test(href),
      isVendors: Boolean(vendor && element.matches(vendor.refuse)),
    };
  };

  const controlsOf = (popup, vendor) => {
    const roots = [popup, ...[...all(popup)].filter((element) => element.shadowRoot).map((each) => each.shadowRoot)];
    if (popup.shadowRoot) roots.push(popup.shadowRoot);
    const found = new Set(roots.flatMap((root) => [...root.querySelectorAll(CONTROLS)]));
    return [...found].filter((element) => isShown(element) && !element.disabled).slice(0, MOST)
      .map((element) => controlOf(element, vendor));
  };

  const add = (element, vendor) => {
    elements.push(element);
    popups.push({
      index: elements.length - 1,
      text: textOf(element).slice(0, 1500),
      hints: hintsOf(element),
      hasEmail: Boolean(element.querySelector("input[type=email], input[name*=email i]")),
      vendor: vendor ? vendor.name : "",
      controls: controlsOf(element, vendor),
    });
  };

  if (isFramed && document.body) add(document.body, undefined);
  const taken = [];
  const isWithin = (element) => taken.some((other) => {
    for (let at = element; at; at = at.parentNode || at.host) if (at === other) return true;
    return false;
  });
  for (const element of isFramed || !document.body ? [] : all(document.body)) {
    if (popups.length >= MOST || isWithin(element)) continue;
    const vendor = vendorOf(element);
    const parts = element.shadowRoot ? [...element.shadowRoot.children] : [];
    const isUp = isShown(element) || parts.some(isShown);
    if (isUp && (vendor || isDialog(element) || isOver(element))) {
      taken.push(element);
      add(element, vendor);
    }
  }
  return { popups, elements };
}
