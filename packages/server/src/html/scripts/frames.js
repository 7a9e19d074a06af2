// What a frame shows waits until the page itself is painted, which it shares a process with; without a script the frame stands there.
const bring = () => {
  for (const place of document.querySelectorAll("noscript.late-frame")) {
    place.insertAdjacentHTML("afterend", place.textContent);
    place.remove();
  }
};

requestAnimationFrame(() => setTimeout(bring));
// What is typed at once is shown in it.
document.addEventListener("input", bring, { once: true, capture: true });

// Within a frame the focus is the frame's: the page around it hears that it has left, and puts its ring around the frame.
const mark = () => {
  for (const frame of document.querySelectorAll("iframe"))
    frame.classList.toggle("has-focus", document.activeElement === frame);
};

addEventListener("blur", () => {
  mark();
  // Not every browser has made the frame the active element by then.
  setTimeout(mark);
});
addEventListener("focus", mark);
document.addEventListener("focusin", mark);
