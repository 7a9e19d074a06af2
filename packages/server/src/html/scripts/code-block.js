// Wraps the long lines of a code block or lets them run, and saves them as a file.
const reveal = (root) => {
  for (const button of root.querySelectorAll("button:is([data-wrap], [data-download])"))
    button.hidden = false;
};

document.addEventListener("click", ({ target }) => {
  const button = target.closest?.("button[data-wrap]");
  if (!button) return;
  const isWrapped = document.getElementById(button.dataset.wrap).closest("pre").classList.toggle("wrapped");
  button.setAttribute("aria-pressed", String(isWrapped));
});

document.addEventListener("click", ({ target }) => {
  const button = target.closest?.("button[data-download]");
  if (!button) return;
  const text = document.getElementById(button.dataset.download).textContent;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([`${text}\n`], { type: "text/plain" }));
  link.download = button.dataset.file;
  link.click();
  URL.revokeObjectURL(link.href);
});

reveal(document);
document.addEventListener("signet:updated", ({ target }) => reveal(target));
