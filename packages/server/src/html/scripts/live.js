// Pieces of a page that change by themselves: an element with data-live="<path>" is replaced by what the server says there,
// every few seconds while somebody looks. The server decides each time whether they may; when not, the page stays as it is.
const EVERY_MS = 4_000;
const LONGEST_MS = 60_000;

const keepFresh = (place, wait = EVERY_MS) =>
  setTimeout(async () => {
    if (document.hidden || isInUse(place)) return keepFresh(place, wait);
    const fresh = await ask(place);
    if (fresh === "over") return;
    // A server that is away for a moment is not asked as often.
    if (fresh === undefined) return keepFresh(place, Math.min(2 * wait, LONGEST_MS));
    keepFresh(put(fresh, place));
  }, wait);

// What is marked to be copied must not vanish under the pointer.
const isInUse = (place) => {
  const marked = document.getSelection();
  return Boolean(marked && !marked.isCollapsed && place.contains(marked.anchorNode));
};

const ask = async ({ dataset: { live } }) => {
  const response = await fetch(live, { redirect: "error", headers: { accept: "text/html" } }).catch(
    () => undefined,
  );
  if (!response || response.status >= 500) return undefined;
  if (!response.ok) return "over";
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const found = [...page.querySelectorAll("[data-live]")].find((one) => one.dataset.live === live);
  return found ?? "over";
};

// Only what has changed: whoever reads with a screen reader, or has the focus inside, notices nothing else.
const put = (fresh, place) => {
  if (fresh.outerHTML === place.outerHTML) return place;
  const focused = place.contains(document.activeElement) ? nameOf(document.activeElement) : undefined;
  const own = document.adoptNode(fresh);
  sayWhatIsNew(own, place);
  place.replaceWith(own);
  if (focused !== undefined)
    [...own.querySelectorAll("a, button, summary")]
      .find((one) => nameOf(one) === focused)
      ?.focus({ preventScroll: true });
  return own;
};

// A region that comes into the page with its text is not always announced: one that stays says what is new.
const sayWhatIsNew = (fresh, place) => {
  const status = document.getElementById("live-status");
  const said = linesOf(place);
  const news = linesOf(fresh).filter((line) => !said.includes(line));
  if (status && news.length > 0) status.textContent = news.join(" ");
};

const linesOf = ({ dataset: { says = "" } }) => says.split("\n").filter((line) => line !== "");

// A link in a table may have no id: where it leads names it as well.
const nameOf = (element) => element.id || element.getAttribute("href") || undefined;

for (const place of document.querySelectorAll("[data-live]")) keepFresh(place);
