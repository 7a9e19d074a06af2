// Shows only the scopes whose name or text has what is typed; ticked ones always.
for (const picker of document.querySelectorAll("[data-scope-picker]")) {
  const search = picker.querySelector("[data-scope-search]");
  if (!search) continue;
  search.hidden = false;
  const field = search.querySelector("input");
  field.addEventListener("input", () => {
    const typed = field.value.trim().toLowerCase();
    for (const option of picker.querySelectorAll("[data-scope-name]")) {
      const isFound = option.dataset.scopeName.toLowerCase().includes(typed);
      option.hidden = !isFound && !option.querySelector("input").checked;
    }
  });
  // Enter narrows the list; it doesn't send the form.
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") event.preventDefault();
  });
}
