// How much of the window a frame covers, and whether it lies over the page; asked of the frame's own element.
(element) => {
  const box = element.getBoundingClientRect();
  const width = Math.min(box.right, innerWidth) - Math.max(box.left, 0);
  const height = Math.min(box.bottom, innerHeight) - Math.max(box.top, 0);
  let isOver = false;
  for (let at = element; at && at.nodeType === Node.ELEMENT_NODE; at = at.parentElement) {
    isOver = isOver || /fixed|sticky|absolute/.test(getComputedStyle(at).position);
  }
  const isShown = element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  return [isShown ? (Math.max(width, 0) * Math.max(height, 0)) / (innerWidth * innerHeight) : 0, isOver];
}
