// The form above a list: what is chosen or typed is applied while one looks at it. The server renders the rows; only they are
// replaced, so that the focus stays where it is. Whatever goes wrong goes the ordinary way, as a page.
const TYPED_MS = 200;

const applyFilter = async (form, signal) => {
  const list = document.querySelector("[data-list]");
  // Empty fields say nothing, and an address is shared.
  const given = [...new FormData(form)].filter(([, value]) => value !== "");
  // How the list is sorted and how long its pages are stays; the place in it doesn't.
  const before = new URLSearchParams(location.search);
  for (const name of ["sort", "size"]) if (before.has(name)) given.push([name, before.get(name)]);
  const query = new URLSearchParams(given).toString();
  const uri = query === "" ? form.action : `${form.action}?${query}`;
  list.setAttribute("aria-busy", "true");
  try {
    const response = await fetch(uri, { headers: { accept: "text/html" }, redirect: "error", signal });
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const fresh = page.querySelector("[data-list]");
    if (!response.ok || !fresh) return form.submit();
    const adopted = document.adoptNode(fresh);
    list.replaceWith(adopted);
    history.replaceState(history.state, "", uri);
    adopted.dispatchEvent(new CustomEvent("signet:updated", { bubbles: true }));
    const status = form.querySelector("[data-filter-status]");
    const shown = adopted.querySelector("#page-range, [role=status] .item-name");
    if (status) status.textContent = shown?.textContent ?? "";
    // A chart's range beside the list: its links name the list's filter.
    const range = page.getElementById("chart-range");
    if (range) document.getElementById("chart-range")?.replaceWith(document.adoptNode(range));
    const all = page.getElementById("search-all");
    form.querySelector("#search-all")?.remove();
    if (all) form.append(document.adoptNode(all));
  } catch (error) {
    if (error.name !== "AbortError") form.submit();
  }
};

for (const form of document.querySelectorAll("form[data-filter]")) {
  let timer;
  let asked;
  const apply = () => {
    clearTimeout(timer);
    asked?.abort();
    if (!document.querySelector("[data-list]")) return form.requestSubmit();
    asked = new AbortController();
    void applyFilter(form, asked.signal);
  };
  for (const field of form.querySelectorAll("select")) field.addEventListener("change", apply);
  if (document.querySelector("[data-list]"))
    form.addEventListener("input", ({ target, isComposing }) => {
      if (target.matches("select") || isComposing) return;
      clearTimeout(timer);
      timer = setTimeout(apply, TYPED_MS);
    });
  // Enter is a page, as ever; what was on its way comes too late.
  form.addEventListener("submit", () => {
    clearTimeout(timer);
    asked?.abort();
  });
}
