// Copy and print buttons are hidden until this script, and a clipboard, are there to serve them.
const status = document.getElementById("copy-status");

for (const button of document.querySelectorAll("button[data-copy]")) {
  const source = document.getElementById(button.dataset.copy);
  if (!navigator.clipboard || !source) continue;
  const label = button.textContent;
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(source.textContent);
    button.textContent = button.dataset.copied;
    if (status) status.textContent = button.dataset.copied;
    setTimeout(() => {
      button.textContent = label;
      if (status) status.textContent = "";
    }, 2000);
  });
}

for (const button of document.querySelectorAll("button[data-print]")) {
  button.hidden = false;
  button.addEventListener("click", () => window.print());
}
