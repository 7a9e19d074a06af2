/** Pushed authorization requests, registrations, CIBA requests, and preflights of what clients call: a client of one organisation is unknown at another. */
import assert from "node:assert/strict";
import type { Service } from "../../modules/open-service.ts";
import { authorizationRequest, testBrowser } from "../fakes/browser.ts";
import { askUser, makeCibaClient, pollRequest, signedInAt, waitingRequests } from "../fixtures/ciba.ts";
import { credentials, postForm } from "../fixtures/client.ts";
import { REDIRECT_URI, type TestOrganisation } from "../test-service.ts";
import { preflight } from "./document-probes.ts";
import { registrationProbes } from "./registration-probes.ts";

interface Both {
  readonly service: Service;
  readonly a: TestOrganisation;
  readonly b: TestOrganisation;
}

/** One of A, at its address at B. */
async function waitingRequest(service: Service, a: TestOrganisation, b: TestOrganisation) {
  const asked = await askUser(a, await makeCibaClient(service, a));
  const [own = ""] = await waitingRequests(testBrowser(), a);
  return { asked, address: own.replace(a.organisation.id, b.organisation.id) };
}

export const pushedRequestProbes = {
  ...registrationProbes,
  "OPTIONS /oauth/:org/par": preflight("par"),
  "OPTIONS /oauth/:org/token": preflight("token"),
  "OPTIONS /oauth/:org/revoke": preflight("revoke"),
  "OPTIONS /oauth/:org/device": preflight("device"),
  "POST /oauth/:org/par": async ({
    a,
    b,
  }: {
    readonly a: TestOrganisation;
    readonly b: TestOrganisation;
  }) => {
    const { parameters } = authorizationRequest(a.web.application.id, REDIRECT_URI);
    const asked = { ...parameters, ...credentials(a.web) };
    assert.equal((await postForm(`${a.issuer}/par`, asked)).status, 201);
    assert.equal((await postForm(`${b.issuer}/par`, asked)).status, 401);
  },
  "POST /oauth/:org/bc-authorize": async ({ service, a, b }: Both) => {
    const asked = { scope: "openid", login_hint: a.user.email };
    const [own, there] = [await makeCibaClient(service, a), await makeCibaClient(service, b)];
    const at = (org: TestOrganisation, form: Record<string, string>) =>
      postForm(`${org.issuer}/bc-authorize`, { ...asked, ...form });
    assert.equal((await at(a, credentials(own))).status, 200);
    assert.equal((await at(b, credentials(own))).status, 401);
    const foreign = await at(b, { ...credentials(there), login_hint: a.user.id });
    assert.equal(foreign.body["error"], "unknown_user_id");
  },
  "GET /oauth/:org/account/requests/:id": async ({ service, a, b }: Both) => {
    const { address } = await waitingRequest(service, a, b);
    assert.equal((await signedInAt(testBrowser(), b, address)).status, 404);
  },
  "POST /oauth/:org/account/requests/:id": async ({ service, a, b }: Both) => {
    const { asked, address } = await waitingRequest(service, a, b);
    const browser = testBrowser();
    const own = await signedInAt(browser, b, address);
    assert.equal((await browser.post(address, { ...own.hidden, decision: "deny" })).status, 404);
    assert.equal((await pollRequest(a, asked)).body["error"], "authorization_pending");
  },
};
