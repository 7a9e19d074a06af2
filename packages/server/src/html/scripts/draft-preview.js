// Sends what is typed to the page's preview frame, as the form's preview buttons do without a script. Nothing is stored.
const DELAY_MS = 400;

for (const form of document.querySelectorAll("form[data-draft]")) {
  const buttons = [...form.elements].filter((element) => element.type === "submit" && element.formTarget);
  let shown = buttons[0];
  let timer;

  const show = () => {
    const frame = document.querySelector(`iframe[name="${shown.formTarget}"]`);
    // A new frame: what is loaded in the old one would be an entry of the browser's history for each pause in typing.
    const next = frame.cloneNode();
    next.removeAttribute("src");
    frame.replaceWith(next);
    const action = form.getAttribute("action");
    form.setAttribute("action", shown.formAction);
    form.target = shown.formTarget;
    // Not requestSubmit(): a preview is no submission, which would count as the first click of a double click.
    form.submit();
    form.setAttribute("action", action);
    form.removeAttribute("target");
  };

  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(show, DELAY_MS);
  };
  form.addEventListener("input", later);
  form.addEventListener("reset", later);
  for (const button of buttons)
    button.addEventListener("click", (event) => {
      event.preventDefault();
      shown = button;
      show();
    });
}
