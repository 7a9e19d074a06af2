// Shows only the events whose name or text has what is typed, and opens their groups; ticked ones always.
for (const picker of document.querySelectorAll("[data-event-picker]")) {
  const search = picker.querySelector("[data-event-search]");
  search.hidden = false;
  const field = search.querySelector("input");
  field.addEventListener("input", () => {
    const typed = field.value.trim().toLowerCase();
    for (const group of picker.querySelectorAll("details")) {
      let isFoundHere = false;
      for (const option of group.querySelectorAll("[data-event-name]")) {
        const isFound = option.dataset.eventName.toLowerCase().includes(typed);
        const isTicked = option.querySelector("input").checked;
        option.hidden = !isFound && !isTicked;
        isFoundHere ||= typed === "" ? isTicked : isFound || isTicked;
      }
      group.open = isFoundHere;
      group.hidden = typed !== "" && !isFoundHere;
    }
  });
  // Enter narrows the list; it doesn't send the form.
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") event.preventDefault();
  });
}
