/** For organisation-isolation.test.ts: sessions, tokens and consents of A at B's consent pages. */
import assert from "node:assert/strict";
import { type TestBrowser, testBrowser } from "../fakes/browser.ts";
import { showsLogin, signInAndConsent, tokensOf } from "../fixtures/visit.ts";
import type { TestOrganisation } from "../test-service.ts";

interface ConsentLoot {
  readonly a: TestOrganisation;
  readonly b: TestOrganisation;
  readonly tokens: { readonly accessToken: string };
  /** Signed in at A; the session's token under the name of B's cookie too. */
  readonly browser: TestBrowser;
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** The consent that the tokens rest on. */
async function consentOf({ issuer, web }: TestOrganisation, accessToken: string): Promise<{ id: string }> {
  const answer = await fetch(`${issuer}/user/consents`, { headers: bearer(accessToken) });
  const { items } = (await answer.json()) as { items: { id: string; clientId: string }[] };
  const found = items.find(({ clientId }) => clientId === web.application.id);
  assert.ok(found);
  return found;
}

/** By route, as organisation-isolation.test.ts has them. */
export const consentProbes: Readonly<Record<string, (loot: ConsentLoot) => Promise<void>>> = {
  "GET /oauth/:org/user/consents": async ({ a, b, browser, tokens }) => {
    const { id } = await consentOf(a, tokens.accessToken);
    assert.ok(showsLogin(await browser.get(`${b.issuer}/user/consents?id=${id}`)), "A's session");
    const headers = bearer(tokens.accessToken);
    assert.equal((await fetch(`${b.issuer}/user/consents`, { headers })).status, 401, "A's token");
    const own = testBrowser();
    await signInAndConsent(own, b);
    assert.equal((await own.get(`${b.issuer}/user/consents?id=${id}`)).status, 404, "A's consent");
  },
  "POST /oauth/:org/user/consents/:id/revoke": async ({ a, b, browser, tokens }) => {
    const { id } = await consentOf(a, tokens.accessToken);
    const { hidden } = await browser.get(`${a.issuer}/user/consents?id=${id}`);
    const revoke = `${b.issuer}/user/consents/${id}/revoke`;
    assert.ok(showsLogin(await browser.post(revoke, hidden)), "A's session");
    const method = "POST";
    const headers = bearer(tokens.accessToken);
    assert.equal((await fetch(revoke, { method, headers })).status, 401, "A's token");
    const own = bearer((await tokensOf(testBrowser(), b)).accessToken);
    assert.equal((await fetch(revoke, { method, headers: own })).status, 404, "A's consent");
    assert.equal((await consentOf(a, tokens.accessToken)).id, id, "it stands");
  },
};
