/** Pushed authorization requests, registrations, and preflights of what clients call: a client of one organisation is unknown at another. */
import assert from "node:assert/strict";
import { authorizationRequest } from "../fakes/browser.ts";
import { credentials, postForm } from "../fixtures/client.ts";
import { REDIRECT_URI, type TestOrganisation } from "../test-service.ts";
import { preflight } from "./document-probes.ts";
import { registrationProbes } from "./registration-probes.ts";

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
};
