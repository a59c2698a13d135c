// The page as it stands: its HTML, the text that can be read in it, and how long its parts took to come.
(limit) => {
  const UNSEEN = new Set(["SCRIPT", "STYLE", "NOSCRIPT", "TEMPLATE", "HEAD", "TEXTAREA", "DATALIST", "OBJECT",
    "IFRAME", "AUDIO", "VIDEO", "CANVAS", "SVG", "svg", "math"]);
  const pieces = [];

  const read = (element) => {
    if (UNSEEN.has(element.tagName) || element.getAttribute("aria-hidden") === "true") return;
    const style = getComputedStyle(element);
    if (style.display === "none" || style.contentVisibility === "hidden") return;
    const isApart = !/^(inline|contents)$/.test(style.display);
    if (isApart || element.tagName === "BR") pieces.push(" ");
    const isShown = style.visibility === "visible";
    for (const child of childrenOf(element)) {
      if (child.nodeType === Node.ELEMENT_NODE) read(child);
      else if (isShown && child.nodeType === Node.TEXT_NODE) pieces.push(child.data);
    }
    if (isApart) pieces.push(" ");
  };

  // What is shown in an element: its shadow tree, or what was put into its slot.
  const childrenOf = (element) => {
    if (element.shadowRoot) return element.shadowRoot.childNodes;
    const assigned = element.tagName === "SLOT" ? element.assignedNodes({ flatten: true }) : [];
    return assigned.length ? assigned : element.childNodes;
  };

  // Every open shadow tree, those within others included.
  const shadows = function* (tree) {
    for (const { shadowRoot } of tree.querySelectorAll("*")) {
      if (!shadowRoot) continue;
      yield shadowRoot;
      yield* shadows(shadowRoot);
    }
  };

  // The markup of an element; shadow trees stand in it as templates, from which a browser makes them again.
  const markupOf = (element) => {
    const shadowRoots = element.getHTML ? [...shadows(document)] : [];
    if (!shadowRoots.length) return element.outerHTML;
    const empty = element.cloneNode(false).outerHTML;
    const end = empty.lastIndexOf("</");
    return empty.slice(0, end) + element.getHTML({ shadowRoots }) + empty.slice(end);
  };

  const root = document.documentElement;
  const doctype = document.doctype ? new XMLSerializer().serializeToString(document.doctype) + "\n" : "";
  const html = doctype + (root ? markupOf(root) : "");
  if (html.length > limit) return { size: html.length };
  if (document.body) read(document.body);
  const [entry] = performance.getEntriesByType("navigation");
  const paint = performance.getEntriesByName("first-contentful-paint")[0];
  const whole = (value) => (value > 0 ? Math.round(value) : null);
  return {
    size: html.length,
    html,
    text: pieces.join("").replace(/\s+/g, " ").trim(),
    charset: document.characterSet,
    height: root ? root.scrollHeight : 0,
    timings: {
      first_byte_ms: entry ? whole(entry.responseStart) : null,
      dom_content_loaded_ms: entry ? whole(entry.domContentLoadedEventEnd) : null,
      load_ms: entry ? whole(entry.loadEventEnd) : null,
      first_contentful_paint_ms: paint ? whole(paint.startTime) : null,
    },
  };
}
