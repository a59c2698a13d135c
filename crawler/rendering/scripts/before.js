// Runs in every frame before the page's own scripts: what opens further windows or connections is not there.
() => {
  window.open = () => null;
  for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "WebTransport", "RTCDataChannel"]) {
    delete window[name];
  }
}
