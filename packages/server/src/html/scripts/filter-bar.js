// Sends the form above a list when a choice is made; what is typed is sent by Enter, as ever.
for (const form of document.querySelectorAll("form[data-filter]"))
  for (const field of form.querySelectorAll("select"))
    field.addEventListener("change", () => form.requestSubmit());
