// Sends what is typed to the page's preview frame, as the form's preview button does without a script. Nothing is stored.
const DELAY_MS = 400;

for (const form of document.querySelectorAll("form[data-draft]")) {
  const button = document.getElementById(form.dataset.draft);
  let timer;

  const show = () => {
    const frame = document.querySelector(`iframe[name="${button.formTarget}"]`);
    // In a new frame, loading makes no entry in the browser's history: "Back" leaves the page as before.
    const next = frame.cloneNode();
    next.removeAttribute("src");
    frame.replaceWith(next);
    const { action, target } = form;
    form.action = button.formAction;
    form.target = button.formTarget;
    // Not requestSubmit(): a preview is no submission to those who listen for one.
    HTMLFormElement.prototype.submit.call(form);
    form.action = action;
    form.target = target;
  };

  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(show, DELAY_MS);
  };
  form.addEventListener("input", later);
  form.addEventListener("reset", later);
  button.hidden = true;
}
