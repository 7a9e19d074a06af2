// The wait page, live. The server says that something has changed, by events or, where they do not come through, when it is
// asked every two seconds; what the page then shows is the server's own page again, put in the place of the old one.
const kinds = ["pending", "challenge", "signed", "failed", "expired"];
const finals = new Set(["signed", "failed", "expired"]);
const news = document.getElementById("wait-news");
const offline = document.getElementById("wait-offline");
let place = document.getElementById("wait");
const { path } = place.dataset;

let isOver = false;
let newest = 0;
let polling;
let interrupted;

// Must name a status as the server does (wait-status.ts).
const nameOf = ({ status, detail, challenge, continueUrl }) =>
  [status, detail, challenge?.challengeId, continueUrl && "on"].filter(Boolean).join(" ");

const hear = (status) => {
  setConnected(true);
  if (finals.has(status.status)) stop();
  if (status.status === "signed" && status.continueUrl) location.replace(`${path}/continue`);
  else if (nameOf(status) !== place.dataset.shows) void showAnew();
};

const setConnected = (isConnected) => {
  clearTimeout(interrupted);
  interrupted = undefined;
  if (isConnected) offline.hidden = true;
};

// A short gap is nobody's business: streams are told to come back whenever a server is replaced.
const missConnection = () => {
  interrupted ??= setTimeout(() => {
    offline.hidden = isOver;
  }, 5_000);
};

const showAnew = async () => {
  newest += 1;
  const mine = newest;
  const response = await fetch(path, { redirect: "manual", headers: { accept: "text/html" } }).catch(
    () => undefined,
  );
  if (mine !== newest || !response) return;
  // The browser's session is over: the page says so itself.
  if (response.status === 404) return location.reload();
  if (!response.ok) return;
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const fresh = page.getElementById("wait");
  if (!fresh || mine !== newest) return;
  document.title = page.title;
  place.replaceWith(fresh);
  place = fresh;
  serve();
  const heading = fresh.querySelector("h1");
  (fresh.querySelector("[autofocus]") ?? heading).focus();
  news.textContent = heading.textContent;
};

const serve = () => {
  const { goesOn } = place.dataset;
  if (goesOn) return location.replace(goesOn);
  for (const form of place.querySelectorAll("form[data-passkey-options]")) servePasskey(form);
  const left = place.querySelector("[data-seconds-left]");
  if (left) countDown(left, Date.now() + Number(left.dataset.secondsLeft) * 1_000);
};

const countDown = (left, until) => {
  const timer = setInterval(() => {
    const seconds = Math.max(0, Math.ceil((until - Date.now()) / 1_000));
    left.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    if (seconds === 0 || !left.isConnected) clearInterval(timer);
  }, 1_000);
};

const servePasskey = (form) => {
  const button = form.querySelector("[data-passkey-button]");
  const failed = form.querySelector("[data-passkey-failed]");
  if (!window.PublicKeyCredential?.parseRequestOptionsFromJSON) {
    failed.hidden = false;
    return;
  }
  button.hidden = false;
  button.addEventListener("click", async (event) => {
    event.preventDefault();
    failed.hidden = true;
    try {
      const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
        JSON.parse(form.dataset.passkeyOptions),
      );
      const credential = await navigator.credentials.get({ publicKey });
      form.elements.namedItem("answer").value = JSON.stringify(credential);
      // Taken from the prototype because a field may be named "submit".
      HTMLFormElement.prototype.submit.call(form);
    } catch {
      failed.hidden = false;
    }
  });
};

const poll = async () => {
  if (isOver) return;
  const response = await fetch(`${path}/status`).catch(() => undefined);
  if (response?.ok) hear(await response.json());
  else if (response?.status === 404) location.reload();
  else missConnection();
};

const startPolling = () => {
  if (polling || isOver) return;
  polling = setInterval(() => void poll(), 2_000);
  void poll();
};

const stopPolling = () => {
  clearInterval(polling);
  polling = undefined;
};

const stop = () => {
  isOver = true;
  source?.close();
  stopPolling();
  setConnected(true);
};

const listen = () => {
  if (!window.EventSource) {
    startPolling();
    return undefined;
  }
  const opened = new EventSource(`${path}/stream`);
  let hasHeard = false;
  // The first event comes at once. A proxy that holds it back holds back the others, too.
  const patience = setTimeout(startPolling, 4_000);
  for (const kind of kinds)
    opened.addEventListener(kind, (event) => {
      hasHeard = true;
      clearTimeout(patience);
      stopPolling();
      hear(JSON.parse(event.data));
    });
  opened.addEventListener("error", () => {
    missConnection();
    // A browser gives up on any answer that is no stream.
    if (!hasHeard || opened.readyState === EventSource.CLOSED) startPolling();
  });
  return opened;
};

serve();
const isAtEnd = finals.has(place.dataset.shows.split(" ")[0]);
let source;
if (!isAtEnd) source = listen();
// A page that comes back from the browser's memory shows what was.
window.addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload();
});
