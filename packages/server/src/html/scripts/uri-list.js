// Adds rows to a list of addresses, and takes them away: the last one is emptied instead.
const rowsOf = (list) => [...list.querySelectorAll(".uri-row")];

const addRow = (list) => {
  const [first] = rowsOf(list);
  const row = first.cloneNode(true);
  const field = row.querySelector("input");
  field.removeAttribute("aria-describedby");
  field.removeAttribute("aria-invalid");
  field.removeAttribute("autofocus");
  field.setAttribute("value", "");
  field.value = "";
  field.id = `${first.querySelector("input").id}-${Date.now()}`;
  row.querySelector(".failed")?.remove();
  first.parentElement.append(row);
  field.focus();
};

const removeRow = (list, row) => {
  const field = row.querySelector("input");
  const rows = rowsOf(list);
  const next = rows[rows.indexOf(row) + 1] ?? rows[rows.indexOf(row) - 1];
  if (rows.length > 1 && row !== rows[0]) row.remove();
  else field.value = "";
  (next ?? row).querySelector("input").focus();
  list.dispatchEvent(new Event("input", { bubbles: true }));
};

for (const list of document.querySelectorAll("[data-uri-list]")) {
  for (const button of list.querySelectorAll("[data-add-row], [data-remove-row]")) button.hidden = false;
  list.addEventListener("click", ({ target }) => {
    if (target.closest("[data-add-row]")) addRow(list);
    const remove = target.closest("[data-remove-row]");
    if (remove) removeRow(list, remove.closest(".uri-row"));
  });
}
