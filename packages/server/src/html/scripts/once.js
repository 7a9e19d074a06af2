// The second click of a double click on a form's button goes nowhere, so that the answer to the first is shown.
// Whoever presses later is answered by the server, which holds to it whatever happens here.
// It stands in the form that it is about, and runs once for each.
{
  const DOUBLE_CLICK_MS = 5_000;
  let sentAt = -Infinity;
  document.currentScript.closest("form").addEventListener("submit", (event) => {
    if (event.timeStamp - sentAt < DOUBLE_CLICK_MS) event.preventDefault();
    else sentAt = event.timeStamp;
  });
  // Back on a page that was kept by the browser: to press now is no double click.
  addEventListener("pageshow", () => {
    sentAt = -Infinity;
  });
}
