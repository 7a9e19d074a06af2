// Closes a toast: by its button, and one that offers nothing to press by itself, but not while somebody is at it.
const SHOWN_MS = 8_000;

for (const toast of document.querySelectorAll(".toast")) {
  const close = toast.querySelector("[data-toast-close]");
  const isBeingRead = () => toast.matches(":hover, :focus-within");
  const closeLater = () => setTimeout(() => (isBeingRead() ? closeLater() : toast.remove()), SHOWN_MS);
  if (close) {
    close.hidden = false;
    close.addEventListener("click", () => toast.remove());
  }
  if (!toast.querySelector("form")) closeLater();
}
