// Moves the window down by a share of its height, or to the top; says where it is then.
(share) => {
  const top = share === null ? 0 : window.scrollY + share * window.innerHeight;
  window.scrollTo({ top, left: 0, behavior: "instant" });
  const page = document.scrollingElement || document.documentElement;
  return [Math.ceil(window.scrollY + window.innerHeight), page ? page.scrollHeight : 0];
}
