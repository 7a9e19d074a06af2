// Masks secrets on the screen, shows them when asked, and saves them as a line of a file.
for (const button of document.querySelectorAll("[data-secret-show]")) {
  const secret = document.getElementById(button.dataset.secretShow);
  secret.classList.add("masked");
  button.hidden = false;
  button.addEventListener("click", () => {
    const isMasked = secret.classList.toggle("masked");
    button.setAttribute("aria-pressed", String(!isMasked));
  });
}

for (const button of document.querySelectorAll("[data-secret-download]")) {
  button.hidden = false;
  button.addEventListener("click", () => {
    const secret = document.getElementById(button.dataset.secretDownload).textContent;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(
      new Blob([`${button.dataset.variable}=${secret}\n`], { type: "text/plain" }),
    );
    link.download = ".env";
    link.click();
    URL.revokeObjectURL(link.href);
  });
}
