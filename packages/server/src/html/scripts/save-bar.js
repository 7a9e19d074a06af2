// Counts what differs from the form that the page came with, says so beside its buttons, and puts it back with "Discard".
const currentOf = (field) =>
  field.type === "checkbox" || field.type === "radio" ? field.checked && field.value : field.value;

const originalOf = (field) => {
  if (field.type === "checkbox" || field.type === "radio") return field.defaultChecked && field.value;
  if (field instanceof HTMLSelectElement)
    return ([...field.options].find((option) => option.defaultSelected) ?? field.options[0])?.value;
  return field.defaultValue;
};

// One change for each name: a group of boxes is one field.
const countChanges = (form) =>
  new Set(
    [...form.elements]
      .filter((field) => field.name && field.type !== "hidden" && field.type !== "submit")
      .filter((field) => currentOf(field) !== originalOf(field))
      .map((field) => field.name),
  ).size;

for (const bar of document.querySelectorAll("[data-save-bar]")) {
  const form = bar.closest("form");
  const count = bar.querySelector(".save-bar-count");
  const discard = bar.querySelector("[data-discard]");
  const update = () => {
    const changes = countChanges(form);
    bar.toggleAttribute("data-changed", changes > 0);
    count.textContent =
      changes === 0 ? "" : changes === 1 ? bar.dataset.one : bar.dataset.many.replace("#", changes);
    discard.hidden = changes === 0;
  };
  form.addEventListener("input", update);
  form.addEventListener("change", update);
  form.addEventListener("reset", () => setTimeout(update));
  discard.addEventListener("click", () => form.reset());
  // A form that the browser has filled in again, or that comes back with what was typed.
  addEventListener("pageshow", update);
}
