// A link with data-dialog leads to a page that asks one question, and so does the form around a list with ticked rows. Here the question is shown in a dialog of this page; where the
// page that comes is another one (a sign-in, an error), the browser goes there.
const fetchQuestion = async (uri, body) => {
  const sent = body && { method: "POST", body };
  const response = await fetch(uri, { headers: { accept: "text/html" }, ...sent }).catch(() => undefined);
  if (!response?.ok) return undefined;
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const content = page.querySelector("[data-dialog-content]");
  const title = page.querySelector("h1");
  return content && title ? { title, content } : undefined;
};

// The question's page and this one may have given an id twice: while the question is asked, it's the question's.
const lendIds = (content) => {
  const lent = [...content.querySelectorAll("[id]")].flatMap(({ id }) => {
    const owner = document.getElementById(id);
    owner?.removeAttribute("id");
    return owner ? [{ owner, id }] : [];
  });
  return () => {
    for (const { owner, id } of lent) owner.id = id;
  };
};

const show = ({ title, content }, opener) => {
  const giveBack = lendIds(content);
  const dialog = document.createElement("dialog");
  const heading = document.createElement("h2");
  heading.id = "dialog-title";
  heading.append(...document.adoptNode(title).childNodes);
  dialog.className = "dialog";
  dialog.setAttribute("aria-labelledby", heading.id);
  dialog.append(heading, document.adoptNode(content));
  document.body.append(dialog);
  dialog.addEventListener("close", () => {
    dialog.remove();
    giveBack();
    opener.focus();
  });
  dialog.addEventListener("click", (event) => {
    const isOutside = event.target === dialog;
    const isCancel = event.target.closest?.("#act-cancel") !== null;
    if (isCancel) event.preventDefault();
    if (isOutside || isCancel) dialog.close();
  });
  // A second click while the answer is on its way sends nothing.
  dialog.addEventListener("submit", (event) => {
    if (dialog.hasAttribute("data-sent")) event.preventDefault();
    dialog.setAttribute("data-sent", "");
    event.submitter?.setAttribute("aria-busy", "true");
  });
  dialog.showModal();
};

document.addEventListener("click", async (event) => {
  const link = event.target.closest?.("a[data-dialog]");
  if (!link || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  if (!window.HTMLDialogElement) return;
  event.preventDefault();
  if (link.getAttribute("aria-busy") === "true") return;
  link.setAttribute("aria-busy", "true");
  const question = await fetchQuestion(link.href);
  link.removeAttribute("aria-busy");
  if (question) show(question, link);
  else location.assign(link.href);
});

// The first step of an act on ticked rows asks and changes nothing: what is no question here is sent again as a page.
const asPages = new WeakSet();
document.addEventListener("submit", async (event) => {
  const form = event.target;
  const { submitter } = event;
  if (!form.matches("[data-bulk]") || !submitter || asPages.has(form) || !window.HTMLDialogElement) return;
  event.preventDefault();
  if (submitter.getAttribute("aria-busy") === "true") return;
  submitter.setAttribute("aria-busy", "true");
  const question = await fetchQuestion(form.action, new URLSearchParams(new FormData(form, submitter)));
  submitter.removeAttribute("aria-busy");
  if (question) return show(question, submitter);
  asPages.add(form);
  form.requestSubmit(submitter);
});

// Restored from the back/forward cache: what was asked has been answered.
addEventListener("pageshow", ({ persisted }) => {
  if (persisted) document.querySelector("dialog.dialog")?.close();
});
