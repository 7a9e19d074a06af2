// A link with data-drawer names a drawer of this page, and leads to a page whose content it shows. Where the page that comes is
// another one (a sign-in, an error), the browser goes there.
const ownIds = (content, prefix) => {
  for (const element of content.querySelectorAll("[id]")) element.id = prefix + element.id;
  for (const element of content.querySelectorAll("[aria-labelledby]"))
    element.setAttribute("aria-labelledby", prefix + element.getAttribute("aria-labelledby"));
};

const fetchContent = async (uri) => {
  const response = await fetch(uri, { headers: { accept: "text/html" } }).catch(() => undefined);
  if (!response?.ok) return undefined;
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const content = page.querySelector("[data-drawer-content]");
  const title = page.querySelector("h1");
  return content && title ? { title, content } : undefined;
};

document.addEventListener("click", async (event) => {
  const link = event.target.closest?.("a[data-drawer]");
  if (!link || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const drawer = document.getElementById(link.dataset.drawer);
  if (!drawer?.showPopover) return;
  event.preventDefault();
  if (link.getAttribute("aria-busy") === "true") return;
  link.setAttribute("aria-busy", "true");
  const found = await fetchContent(link.href);
  link.removeAttribute("aria-busy");
  if (!found) return location.assign(link.href);
  const { title, content } = found;
  // The page may have the same ids.
  ownIds(content, `${drawer.id}-`);
  drawer.querySelector("h2").replaceChildren(...document.adoptNode(title).childNodes);
  const body = drawer.querySelector(".drawer-body");
  body.replaceChildren(document.adoptNode(content));
  body.dispatchEvent(new CustomEvent("signet:updated", { bubbles: true }));
  drawer.querySelector("[data-drawer-open]").href = link.href;
  drawer.showPopover();
  drawer.querySelector("button").focus();
  drawer.addEventListener(
    "toggle",
    ({ newState }) => {
      if (newState === "closed") link.focus();
    },
    { once: true },
  );
});
