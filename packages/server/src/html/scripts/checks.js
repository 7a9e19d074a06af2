// Fields that are looked at as they are typed. The server is asked, so that one set of rules decides; what it says stands
// below the field, where room is kept for it. It says the same when the form is sent.
const LONGEST = 6_000;
const PATIENCE_MS = 400;

for (const field of document.querySelectorAll("[data-check]")) {
  const place = document.getElementById(`${field.id}-check`);
  if (!place) continue;
  let timer;
  let newest = 0;

  const look = async () => {
    newest += 1;
    const mine = newest;
    if (field.value.trim() === "" || field.value.length > LONGEST) return say("", true);
    const uri = new URL(field.dataset.check, location.href);
    uri.searchParams.set("value", field.value);
    const response = await fetch(uri, { headers: { accept: "application/json" } }).catch(() => undefined);
    // Signed out, or the service is away: nothing is known, and the form will tell.
    const isAnswer = response?.ok && response.headers.get("content-type")?.includes("json");
    const answer = isAnswer ? await response.json() : { ok: true, text: "" };
    if (mine === newest) say(answer.text, answer.ok);
  };

  const say = (text, isFine) => {
    place.textContent = text;
    place.classList.toggle("bad", !isFine);
    const wasRefused = document.getElementById(`${field.id}-fault`) !== null;
    if (!wasRefused) field.toggleAttribute("aria-invalid", false);
    if (!isFine) field.setAttribute("aria-invalid", "true");
  };

  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(look, PATIENCE_MS);
  });
}
