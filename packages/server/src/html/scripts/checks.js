// Validates fields while typing. The server validates, so that there is one set of rules; its result stands below the field,
// in space reserved for it. Submitting the form gives the same result.
const MAX_LENGTH = 6_000;
const DEBOUNCE_MS = 400;

for (const field of document.querySelectorAll("[data-check]")) {
  const output = document.getElementById(`${field.id}-check`);
  if (!output) continue;
  let timer;
  let latest = 0;

  const validate = async () => {
    latest += 1;
    const request = latest;
    if (field.value.trim() === "" || field.value.length > MAX_LENGTH) return showResult("", true);
    const uri = new URL(field.dataset.check, location.href);
    uri.searchParams.set("value", field.value);
    const response = await fetch(uri, { headers: { accept: "application/json" } }).catch(() => undefined);
    // Signed out, or the service is unavailable: submitting the form will tell.
    const isResult = response?.ok && response.headers.get("content-type")?.includes("json");
    const result = isResult ? await response.json() : { ok: true, text: "" };
    if (request === latest) showResult(result.text, result.ok);
  };

  const showResult = (text, isValid) => {
    output.textContent = text;
    output.classList.toggle("bad", !isValid);
    const hasServerFault = document.getElementById(`${field.id}-fault`) !== null;
    if (!hasServerFault) field.toggleAttribute("aria-invalid", false);
    if (!isValid) field.setAttribute("aria-invalid", "true");
  };

  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(validate, DEBOUNCE_MS);
  });
}
