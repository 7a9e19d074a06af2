// Shows and hides a password. The button is hidden until this script is there to serve it.
for (const button of document.querySelectorAll("button[data-reveal]")) {
  const field = document.getElementById(button.dataset.reveal);
  if (!field) continue;
  button.hidden = false;
  button.addEventListener("click", () => {
    const isShown = field.type === "password";
    field.type = isShown ? "text" : "password";
    button.setAttribute("aria-pressed", String(isShown));
  });
  // What is sent is a password again: browsers neither offer nor keep it as something that was typed before.
  field.form?.addEventListener("submit", () => {
    field.type = "password";
  });
}
