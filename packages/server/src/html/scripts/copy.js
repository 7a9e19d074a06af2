// Copy buttons are hidden until this script, and a clipboard, are there to serve them: also those of a piece that was replaced.
const reveal = (root) => {
  if (!navigator.clipboard) return;
  for (const button of root.querySelectorAll("button[data-copy]"))
    button.hidden = document.getElementById(button.dataset.copy) === null;
};

document.addEventListener("click", async ({ target }) => {
  const button = target.closest?.("button[data-copy]");
  if (!button) return;
  const status = document.getElementById("copy-status");
  await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
  const label = button.querySelector("svg") ? undefined : button.textContent;
  if (label !== undefined) button.textContent = button.dataset.copied;
  button.classList.add("copied");
  if (status) status.textContent = button.dataset.copied;
  setTimeout(() => {
    if (label !== undefined) button.textContent = label;
    button.classList.remove("copied");
    if (status) status.textContent = "";
  }, 2000);
});

reveal(document);
document.addEventListener("signet:updated", ({ target }) => reveal(target));

for (const button of document.querySelectorAll("button[data-print]")) {
  button.hidden = false;
  button.addEventListener("click", () => window.print());
}
