/** For organisation-isolation.test.ts: a session of A at the account pages of B. */
import assert from "node:assert/strict";
import type { TestBrowser, TestPage } from "../fakes/browser.ts";
import { follow, showsLogin } from "../fixtures/visit.ts";
import type { TestOrganisation } from "../test-service.ts";

interface Loot {
  readonly b: TestOrganisation;
  /** Signed in at A; its session's token under the name of B's cookie too. */
  readonly browser: TestBrowser;
  /** A's consent page. */
  readonly consent: TestPage;
}

/** A's session opens no account page at B, and A's form changes nothing there. */
const account =
  (method: "get" | "post", page: string) =>
  async ({ b, browser, consent }: Loot): Promise<void> => {
    const url = `${b.issuer}/account/${page}`;
    const { csrf = "" } = consent.hidden;
    const shown = method === "get" ? await browser.get(url) : await browser.post(url, { csrf, id: "x" });
    assert.ok(showsLogin(shown));
  };

/** Opens the profile page, which asks for reauthentication. */
async function leadsToSignIn({ b, browser }: Loot): Promise<void> {
  assert.ok(showsLogin(await follow(browser, await browser.get(`${b.issuer}/account`))));
}

/** Shown after an account is deleted; the same for every session. */
async function tellsNothing({ b, browser }: Loot): Promise<void> {
  const { body } = await browser.get(`${b.issuer}/account/gone`);
  assert.match(body, /id="gone"/);
  assert.doesNotMatch(body, /@/);
}

/** Read-only pages. */
const shown = ["profile", "security", "sessions", "activity", "data", "confirm-identity"];

const changes = [
  "address",
  "password",
  "data/export",
  "deletion",
  "leave",
  "security/authenticator",
  "security/authenticator/removal",
  "security/passkeys",
  "security/passkey",
  "security/recovery-codes",
  "security/browsers",
  "security/connection",
  "sessions/end",
];

export const accountProbes = {
  ...Object.fromEntries(shown.map((page) => [`GET /oauth/:org/account/${page}`, account("get", page)])),
  "POST /oauth/:org/account/profile": account("post", "profile"),
  "GET /oauth/:org/account": leadsToSignIn,
  "GET /oauth/:org/account/gone": tellsNothing,
  ...Object.fromEntries(
    changes.flatMap((page) => [
      [`GET /oauth/:org/account/${page}`, account("get", page)],
      [`POST /oauth/:org/account/${page}`, account("post", page)],
    ]),
  ),
};
