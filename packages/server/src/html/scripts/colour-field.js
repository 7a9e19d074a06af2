// Keeps a colour's digits and the browser's picker the same.
for (const picker of document.querySelectorAll("[data-colour-of]")) {
  const field = document.getElementById(picker.dataset.colourOf);
  picker.hidden = false;
  picker.addEventListener("input", () => {
    field.value = picker.value;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });
  field.addEventListener("input", () => {
    if (/^#[0-9a-f]{6}$/i.test(field.value)) picker.value = field.value.toLowerCase();
  });
}
