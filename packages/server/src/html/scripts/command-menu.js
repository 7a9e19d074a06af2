// The command menu: ⌘K, Ctrl+K or its button opens a dialog (combobox with a listbox) that the server fills. What was opened before
// is remembered in this browser, by organisation, until its reader signs out or another one is there: names and addresses of its
// pages, nothing else.
const opener = document.getElementById("command-open");
const texts = opener.dataset;
const base = opener.pathname.replace(/\/search$/, "");
const orgId = base.split("/").at(-1);
const isApple = /Mac|iPhone|iPad/.test(navigator.platform);
const DEBOUNCE_MS = 90;
const MAX_RECENT = 6;

const create = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
};

const drawIcon = (path) => {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
  svg.setAttribute("class", "icon");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  line.setAttribute("d", path);
  svg.append(line);
  return svg;
};

// Recent pages. Storage may be off, and what it holds may be anything: only addresses of this organisation's console are links.
const RECENT_KEY = `signet-recent:${orgId}`;
const isOwn = ({ uri, label, icon }) =>
  typeof label === "string" &&
  /^(?:m|$)/i.test(icon) &&
  typeof uri === "string" &&
  (uri.startsWith(`${base}/`) || uri.startsWith(`/devices/manage/${orgId}`));

const readRecent = () => {
  try {
    const { reader, items } = JSON.parse(localStorage.getItem(RECENT_KEY));
    return reader === texts.reader ? items.filter(isOwn).slice(0, MAX_RECENT) : [];
  } catch {
    return [];
  }
};

const remember = (item) => {
  const others = readRecent().filter(({ uri }) => uri !== item.uri);
  try {
    const items = [item, ...others].slice(0, MAX_RECENT);
    localStorage.setItem(RECENT_KEY, JSON.stringify({ reader: texts.reader, items }));
  } catch {
    // No storage: nothing is remembered.
  }
};

// Of every organisation: who sits down here next is somebody else.
document.getElementById("nav-sign-out")?.form.addEventListener("submit", () => {
  try {
    for (const key of Object.keys(localStorage))
      if (key.startsWith("signet-recent:")) localStorage.removeItem(key);
  } catch {
    // No storage: nothing was remembered.
  }
});

// A record's own page: its address ends with its ID. An event is looked at once.
const RECORD = /^\/(applications|users|system-accounts|pools|scopes)\/[0-9a-f-]{36}$/;
if (location.pathname.startsWith(base) && RECORD.test(location.pathname.slice(base.length))) {
  const place = RECORD.exec(location.pathname.slice(base.length))[1];
  const page = document.querySelector(`.menu a[href="${base}/${place}"]`);
  const label = (document.querySelector("h1 bdi") ?? document.querySelector("h1"))?.textContent
    .trim()
    .slice(0, 100);
  const path = page?.querySelector("path")?.getAttribute("d");
  if (label) remember({ label, uri: location.pathname, note: page?.textContent ?? "", icon: path ?? "" });
}

let dialog;
let input;
let list;
let status;
let active = -1;
let asked;
let timer;
// What was typed has no answer yet; Enter waits for it.
let isPending = false;
let isEntered = false;

const options = () => [...list.querySelectorAll("[role=option]")];

const choose = (index) => {
  const all = options();
  active = all.length === 0 ? -1 : (index + all.length) % all.length;
  all.forEach((option, place) => {
    option.setAttribute("aria-selected", String(place === active));
  });
  const chosen = all[active];
  if (chosen) input.setAttribute("aria-activedescendant", chosen.id);
  else input.removeAttribute("aria-activedescendant");
  chosen?.scrollIntoView({ block: "nearest" });
};

const drawGroup = ({ label, items }, place) => {
  const heading = create("div", { class: "command-group", id: `command-group-${place}` }, label);
  const drawn = items.map((item, index) => {
    const id = `command-option-${place}-${index}`;
    const link = { role: "option", id, href: item.uri, tabindex: "-1", "aria-selected": "false" };
    const note = item.note ? [create("bdi", { class: "command-note" }, item.note)] : [];
    return create("a", link, drawIcon(item.icon), create("bdi", {}, item.label), ...note);
  });
  return create("div", { role: "group", "aria-labelledby": heading.id }, heading, ...drawn);
};

const draw = (groups, said) => {
  list.replaceChildren(...groups.map(drawGroup));
  status.textContent = said;
  choose(0);
  isPending = false;
  if (isEntered) enter();
};

const enter = () => {
  isEntered = isPending;
  if (isPending) return;
  const chosen = options()[active];
  if (chosen) chosen.click();
  else leave();
};

const ask = async () => {
  asked?.abort();
  const mine = new AbortController();
  asked = mine;
  const text = input.value.trim();
  const recent = readRecent();
  const before = text === "" && recent.length > 0 ? [{ label: texts.recent, items: recent }] : [];
  try {
    const response = await fetch(`${opener.pathname}?${new URLSearchParams({ q: text })}`, {
      headers: { accept: "application/json" },
      redirect: "error",
      signal: mine.signal,
    });
    // Signed out meanwhile: the page shows the sign-in.
    if (response.status === 401 || response.status === 403) return leave();
    if (!response.ok) throw new Error(`status ${response.status}`);
    const { groups, status: said } = await response.json();
    if (asked === mine) draw([...before, ...groups], said);
  } catch {
    if (asked === mine) draw(before, texts.failed);
  }
};

const leave = () => location.assign(`${opener.pathname}?${new URLSearchParams({ q: input.value.trim() })}`);

const KEYS = {
  ArrowDown: () => choose(active + 1),
  ArrowUp: () => choose(active - 1),
  PageDown: () => choose(Math.min(active + 8, options().length - 1)),
  PageUp: () => choose(Math.max(active - 8, 0)),
};

const press = (event) => {
  if (event.isComposing) return;
  const move = KEYS[event.key];
  if (move) {
    event.preventDefault();
    move();
  }
  if (event.key === "Enter") {
    event.preventDefault();
    enter();
  }
};

const listen = () => {
  input.addEventListener("input", () => {
    clearTimeout(timer);
    // An answer to what stood there before is no answer to this: Enter would open its first line.
    asked?.abort();
    asked = undefined;
    isPending = true;
    isEntered = false;
    timer = setTimeout(ask, DEBOUNCE_MS);
  });
  input.addEventListener("keydown", press);
  list.addEventListener("pointermove", ({ target }) => {
    const place = options().indexOf(target.closest("[role=option]"));
    if (place !== -1 && place !== active) choose(place);
  });
  list.addEventListener("click", ({ target }) => {
    const link = target.closest("a");
    if (link?.hash || link?.pathname === location.pathname) dialog.close();
  });
  dialog.addEventListener("click", ({ target }) => {
    if (target === dialog) dialog.close();
  });
  dialog.addEventListener("close", () => {
    clearTimeout(timer);
    asked?.abort();
    asked = undefined;
    isEntered = false;
  });
};

const build = () => {
  input = create("input", {
    id: "command-input",
    type: "text",
    role: "combobox",
    maxlength: "100",
    autocomplete: "off",
    autocapitalize: "none",
    spellcheck: "false",
    enterkeyhint: "go",
    placeholder: texts.placeholder,
    "aria-label": texts.label,
    "aria-expanded": "true",
    "aria-controls": "command-list",
    "aria-autocomplete": "list",
  });
  list = create("div", { id: "command-list", role: "listbox", "aria-label": texts.label, tabindex: "-1" });
  status = create("p", { id: "command-status", role: "status" });
  const close = create("button", { type: "button", class: "icon-button", "aria-label": texts.close });
  close.append(drawIcon("M4 4l8 8M12 4l-8 8"));
  const field = create("div", { class: "command-field" });
  field.append(opener.querySelector("svg").cloneNode(true), input, close);
  const hints = texts.keys.split("\n").map((line) => {
    const [key, ...words] = line.split(" ");
    return create("span", {}, create("kbd", {}, key), ` ${words.join(" ")}`);
  });
  const foot = create("div", { class: "command-foot" }, status);
  foot.append(create("div", { class: "command-keys", "aria-hidden": "true" }, ...hints));
  dialog = create(
    "dialog",
    { class: "command", id: "command", "aria-label": texts.label },
    field,
    list,
    foot,
  );
  close.addEventListener("click", () => dialog.close());
  listen();
  document.body.append(dialog);
};

const open = () => {
  if (!dialog) build();
  if (dialog.open) return dialog.close();
  for (const popover of document.querySelectorAll("[popover]:popover-open")) popover.hidePopover();
  input.value = "";
  isPending = true;
  isEntered = false;
  dialog.showModal();
  input.focus();
  void ask();
};

if (window.HTMLDialogElement) {
  const keys = opener.querySelector("kbd");
  keys.textContent = isApple ? "⌘K" : "Ctrl K";
  keys.hidden = false;
  opener.setAttribute("role", "button");
  opener.setAttribute("aria-haspopup", "dialog");
  opener.setAttribute("aria-keyshortcuts", isApple ? "Meta+K" : "Control+K");
  opener.addEventListener("click", (event) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    open();
  });
  opener.addEventListener("keydown", (event) => {
    if (event.key !== " ") return;
    event.preventDefault();
    open();
  });
  document.addEventListener("keydown", (event) => {
    const isShortcut = event.key.toLowerCase() === "k" && (isApple ? event.metaKey : event.ctrlKey);
    if (!isShortcut || event.altKey || event.shiftKey || event.repeat) return;
    // Another dialog asks a question: that comes first.
    if (!dialog?.open && document.querySelector("dialog[open]")) return;
    event.preventDefault();
    open();
  });
}
