// Ticks all rows of a table at once, and shows what can be done with the ticked ones only when there are some.
for (const form of document.querySelectorAll("[data-bulk]")) {
  const all = form.querySelector("[data-select-all]");
  const count = form.querySelector(".bulk-count");
  const boxes = () => [...form.querySelectorAll("input[name=selected]")];
  const update = () => {
    const ticked = boxes().filter(({ checked }) => checked).length;
    form.toggleAttribute("data-any", ticked > 0);
    all.checked = ticked > 0 && ticked === boxes().length;
    all.indeterminate = ticked > 0 && !all.checked;
    count.textContent =
      ticked === 0 ? "" : ticked === 1 ? count.dataset.one : count.dataset.many.replace("#", ticked);
  };
  form.setAttribute("data-live-bulk", "");
  all.hidden = false;
  all.addEventListener("change", () => {
    for (const box of boxes()) box.checked = all.checked;
    update();
  });
  form.addEventListener("change", update);
  addEventListener("pageshow", update);
}
