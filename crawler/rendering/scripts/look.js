// What a page is like now: whether it is loaded, and numbers that change with what is in it.
() => {
  const body = document.body;
  const images = Array.from(document.images);
  return [
    document.readyState === "complete",
    document.getElementsByTagName("*").length,
    body ? body.textContent.length : 0,
    document.documentElement ? document.documentElement.scrollHeight : 0,
    images.filter((image) => image.complete && image.naturalWidth > 0).length,
  ];
}
