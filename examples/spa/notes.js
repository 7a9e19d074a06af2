/** The page of api-and-spa.ts: shows and adds notes, and handles insufficient scopes. */
import { call, person, renew, signIn, signOut, takeAnswer } from "./tokens.js";

const reading = "openid profile offline_access notes:read";
const element = (selector) => document.querySelector(selector);
const say = (text) => {
  element("#status").textContent = text;
};

function offer(...offers) {
  const buttons = offers.map(([text, act]) => {
    const button = Object.assign(document.createElement("button"), {
      className: text === "Sign in" ? "button primary" : "button",
      textContent: text,
    });
    button.addEventListener("click", () => act().catch(fail));
    return button;
  });
  element("#actions").replaceChildren(...buttons);
}

function fail(error) {
  say(error.message);
  offer(["Sign in", () => signIn(reading)]);
}

async function show(response) {
  // RFC 6750 §3.1: the token is good, but the person has not allowed this: ask, and come back.
  if (response.status === 403) {
    say("The API refused: this application may only read your notes so far.");
    return offer(["Allow it to write", () => signIn(`${reading} notes:write`)], ["Sign out", signOut]);
  }
  if (!response.ok) throw new Error(`The API refused: ${response.headers.get("www-authenticate")}`);
  const items = (await response.json()).map((text) =>
    Object.assign(document.createElement("li"), { textContent: text }),
  );
  element("#notes ul").replaceChildren(...items);
  element("#note").value = "";
  element("#notes").hidden = false;
}

element("#notes form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const headers = { "content-type": "text/plain" };
  await call("/api/notes", { method: "POST", headers, body: element("#note").value })
    .then(show)
    .catch(fail);
});

async function start() {
  const answer = new URLSearchParams(location.search);
  if (!answer.has("state")) {
    say("You are not signed in.");
    return offer(["Sign in", () => signIn(reading)]);
  }
  await takeAnswer(answer);
  say(`Signed in as ${(await person()).name}.`);
  offer(
    ["Renew the token", () => renew().then(() => say("Renewed: the old refresh token is used up."))],
    ["Sign out", signOut],
  );
  await show(await call("/api/notes"));
}

await start().catch(fail);
