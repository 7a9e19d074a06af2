// Ticks all rows of a table at once, or those between two with the shift key, and shows what can be done with the ticked ones only
// when there are some.
const watchBulk = (form) => {
  const all = form.querySelector("[data-select-all]");
  const count = form.querySelector(".bulk-count");
  const boxes = () => [...form.querySelectorAll("input[name=selected]")];
  let last;
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
  form.addEventListener("click", ({ target, shiftKey }) => {
    if (!target.matches("input[name=selected]")) return;
    const [from, to] = [boxes().indexOf(last), boxes().indexOf(target)].sort((one, other) => one - other);
    if (shiftKey && from >= 0) for (const box of boxes().slice(from, to)) box.checked = target.checked;
    last = target;
    update();
  });
  form.addEventListener("change", update);
  addEventListener("pageshow", update);
  update();
};

const watchBulkIn = (root) => {
  for (const form of root.querySelectorAll("[data-bulk]:not([data-live-bulk])")) watchBulk(form);
};
watchBulkIn(document);
document.addEventListener("signet:updated", ({ target }) => watchBulkIn(target));
