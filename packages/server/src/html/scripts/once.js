// Ignores the second click of a double click on a form's button, so that the response to the first one is shown. The server
// handles later duplicate submissions. The script element stands in its form, and runs once for each.
{
  const DOUBLE_CLICK_MS = 5_000;
  let submittedAt = -Infinity;
  document.currentScript.closest("form").addEventListener("submit", (event) => {
    if (event.timeStamp - submittedAt < DOUBLE_CLICK_MS) event.preventDefault();
    else submittedAt = event.timeStamp;
  });
  // Restored from the back/forward cache: a click now is no double click.
  addEventListener("pageshow", () => {
    submittedAt = -Infinity;
  });
}
