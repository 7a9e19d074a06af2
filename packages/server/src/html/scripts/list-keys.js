// Lists by keyboard: j and k, or the arrows within a row, go through the rows, x ticks one, Enter opens it, / goes to the search,
// ? says so. Letters alone can be turned off there (WCAG 2.2, 2.1.4), in this browser.
const OFF = "signet-list-keys";
const rowsOfLists = () => [...document.querySelectorAll("main table tbody tr")];
const rowLinkOf = (row) => row.querySelector("a.item-name, th a") ?? row.querySelector("a, input");

const areKeysOff = () => {
  try {
    return localStorage.getItem(OFF) === "off";
  } catch {
    return false;
  }
};

const goToRow = (step) => {
  const rows = rowsOfLists().filter(rowLinkOf);
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const next = rows[at === -1 ? (step === 1 ? 0 : -1) : Math.min(rows.length - 1, Math.max(0, at + step))];
  if (!next) return false;
  rowLinkOf(next).focus();
  next.scrollIntoView({ block: "nearest" });
  return true;
};

const tickRow = () => {
  const box = document.activeElement?.closest?.("tr")?.querySelector("input[name=selected]");
  box?.click();
  return Boolean(box);
};

const goToSearch = () => {
  const field = document.querySelector(
    "form[data-filter] input[type=search], main form[role=search] input[type=search]",
  );
  field?.focus();
  field?.select();
  return Boolean(field);
};

const showKeys = () => {
  const source = document.querySelector("template[data-list-keys]");
  if (!source || !window.HTMLDialogElement || document.querySelector("dialog[open]")) return false;
  const opener = document.activeElement;
  const dialog = document.createElement("dialog");
  dialog.className = "dialog";
  dialog.setAttribute("aria-labelledby", "list-keys-title");
  dialog.append(source.content.cloneNode(true));
  const box = dialog.querySelector("input");
  box.checked = !areKeysOff();
  box.addEventListener("change", () => {
    try {
      localStorage.setItem(OFF, box.checked ? "on" : "off");
    } catch {
      // No storage: it holds for no other page.
    }
  });
  dialog.querySelector("button").addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", ({ target }) => {
    if (target === dialog) dialog.close();
  });
  dialog.addEventListener("close", () => {
    dialog.remove();
    opener?.focus?.();
  });
  document.body.append(dialog);
  dialog.showModal();
  return true;
};

const LETTERS = { j: () => goToRow(1), k: () => goToRow(-1), x: tickRow, "/": goToSearch };
const isTyping = (target) =>
  target.matches?.("textarea, select, [contenteditable], input:not([type=checkbox], [type=radio])") ?? false;

document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || event.isComposing) return;
  if (isTyping(target) || document.querySelector("dialog[open], [popover]:popover-open")) return;
  if (!document.querySelector("template[data-list-keys]")) return;
  const step = { ArrowDown: 1, ArrowUp: -1 }[key];
  const isInRow = step && target.closest?.("main table tbody tr");
  const act = isInRow
    ? () => goToRow(step)
    : key === "?"
      ? showKeys
      : areKeysOff()
        ? undefined
        : LETTERS[key];
  if (act?.()) event.preventDefault();
});

for (const button of document.querySelectorAll("[data-show-list-keys]")) {
  button.hidden = false;
  button.addEventListener("click", showKeys);
}
