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
