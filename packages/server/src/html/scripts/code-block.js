// Wraps the long lines of a code block, or lets them run.
const reveal = (root) => {
  for (const button of root.querySelectorAll("button[data-wrap]")) button.hidden = false;
};

document.addEventListener("click", ({ target }) => {
  const button = target.closest?.("button[data-wrap]");
  if (!button) return;
  const isWrapped = document.getElementById(button.dataset.wrap).closest("pre").classList.toggle("wrapped");
  button.setAttribute("aria-pressed", String(isWrapped));
});

reveal(document);
document.addEventListener("signet:updated", ({ target }) => reveal(target));
