// A form that does its work once: the second click of a double click goes nowhere, so that the answer to the first is shown.
// Whoever presses later is answered by the server, which holds to it whatever happens here.
// Scripts of one page share their names: no other may have this one.
const DOUBLE_CLICK_MS = 5_000;

const watch = (form) => {
  let sentAt = -Infinity;
  form.addEventListener("submit", (event) => {
    if (event.timeStamp - sentAt < DOUBLE_CLICK_MS) event.preventDefault();
    else sentAt = event.timeStamp;
  });
  // Back on a page that was kept by the browser: to press now is no double click.
  addEventListener("pageshow", () => {
    sentAt = -Infinity;
  });
};

for (const field of document.querySelectorAll('input[name="once"]')) watch(field.form);
