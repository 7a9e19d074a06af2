// Live pieces: an element with data-live="<path>" is replaced by the server's response from that path every few seconds
// while the page is visible. The server checks access each time; without it, the page stays as it is.
const INTERVAL_MS = 4_000;
const MAX_INTERVAL_MS = 60_000;

const poll = (piece, interval = INTERVAL_MS) =>
  setTimeout(async () => {
    if (document.hidden || isBeingCopied(piece)) return poll(piece, interval);
    const fresh = await fetchPiece(piece);
    if (fresh === "gone") return;
    // Backs off while the server is unavailable.
    if (fresh === undefined) return poll(piece, Math.min(2 * interval, MAX_INTERVAL_MS));
    poll(replace(fresh, piece));
  }, interval);

// Text that is selected for copying must not vanish under the pointer.
const isBeingCopied = (piece) => {
  const marked = document.getSelection();
  return Boolean(marked && !marked.isCollapsed && piece.contains(marked.anchorNode));
};

const fetchPiece = async ({ dataset: { live } }) => {
  const response = await fetch(live, { redirect: "error", headers: { accept: "text/html" } }).catch(
    () => undefined,
  );
  if (!response || response.status >= 500) return undefined;
  if (!response.ok) return "gone";
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const match = [...page.querySelectorAll("[data-live]")].find((one) => one.dataset.live === live);
  return match ?? "gone";
};

// Only when it has changed: screen readers and the focus are not disturbed otherwise.
const replace = (fresh, piece) => {
  if (fresh.outerHTML === piece.outerHTML) return piece;
  const focused = piece.contains(document.activeElement) ? nameOf(document.activeElement) : undefined;
  const adopted = document.adoptNode(fresh);
  announceChanges(adopted, piece);
  // Ticked rows stay ticked.
  for (const { value } of piece.querySelectorAll("input[name=selected]:checked"))
    for (const box of adopted.querySelectorAll("input[name=selected]"))
      if (box.value === value) box.checked = true;
  piece.replaceWith(adopted);
  adopted.dispatchEvent(new CustomEvent("signet:updated", { bubbles: true }));
  if (focused !== undefined)
    [...adopted.querySelectorAll("a, button, summary")]
      .find((one) => nameOf(one) === focused)
      ?.focus({ preventScroll: true });
  return adopted;
};

// A region that is inserted with its text is not always announced: one that stays announces the changes.
const announceChanges = (fresh, piece) => {
  const status = document.getElementById("live-status");
  const previous = linesOf(piece);
  const changes = linesOf(fresh).filter((line) => !previous.includes(line));
  if (status && changes.length > 0) status.textContent = changes.join(" ");
};

const linesOf = ({ dataset: { says = "" } }) => says.split("\n").filter((line) => line !== "");

// A link in a table may have no id: its address identifies it as well.
const nameOf = (element) => element.id || element.getAttribute("href") || undefined;

for (const piece of document.querySelectorAll("[data-live]")) poll(piece);
