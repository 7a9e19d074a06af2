/** A session that one organisation binds to a key is none at another, and neither are its challenges. */
import assert from "node:assert/strict";
import { bindingProof, boundBrowser, challengeOf, ecKey, offerOf } from "../fakes/bound-browser.ts";
import { testBrowser } from "../fakes/browser.ts";
import { signInAndConsent, visit } from "../fixtures/visit.ts";
import type { TestOrganisation } from "../test-service.ts";

interface World {
  readonly a: TestOrganisation;
  readonly b: TestOrganisation;
}

export const boundSessionProbes = {
  "POST /oauth/:org/device-bound-session": async ({ a, b }: World) => {
    const browser = testBrowser();
    const { hidden } = await visit(browser, a);
    const { email, password } = a.user;
    const offer = offerOf(await browser.post(`${a.issuer}/login`, { ...hidden, email, password }));
    const proof = await bindingProof(ecKey(), offer?.challenge ?? "", { withKey: true });
    const at = ({ issuer }: TestOrganisation) =>
      testBrowser().post(`${issuer}/device-bound-session`, {}, { "secure-session-response": proof });
    assert.equal((await at(b)).status, 400);
    assert.equal((await at(a)).status, 200);
  },
  "POST /oauth/:org/device-bound-session/refresh": async ({ a, b }: World) => {
    const key = ecKey();
    const browser = boundBrowser(key);
    await signInAndConsent(browser, a);
    const { sessionId = "" } = browser.binding ?? {};
    const at = ({ issuer }: TestOrganisation, proof = "") =>
      testBrowser().post(
        `${issuer}/device-bound-session/refresh`,
        {},
        {
          "sec-secure-session-id": `"${sessionId}"`,
          "secure-session-response": proof,
        },
      );
    const of = async (org: TestOrganisation) => bindingProof(key, challengeOf(await at(org)) ?? "");
    assert.equal((await at(b, await of(a))).status, 403, "A's challenge");
    const { status, body } = await at(b, await of(b));
    assert.deepEqual([status, JSON.parse(body).continue], [200, false], "A's session");
    assert.equal((await at(a, await of(a))).status, 200);
  },
};
