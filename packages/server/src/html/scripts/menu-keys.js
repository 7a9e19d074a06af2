// The arrow keys move through the menus of buttons, as they do through a program's.
document.addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step || event.altKey || event.ctrlKey || event.metaKey) return;
  const opener = event.target.closest?.("button[popovertarget]");
  const menu = opener?.popoverTargetElement ?? event.target.closest?.(".drop[popover]");
  if (!menu?.matches(".drop")) return;
  event.preventDefault();
  if (!menu.matches(":popover-open")) menu.showPopover({ source: opener });
  const entries = [...menu.querySelectorAll("a, button")];
  const at = entries.indexOf(document.activeElement);
  entries.at(at === -1 && step === -1 ? -1 : (at + step) % entries.length)?.focus();
});
