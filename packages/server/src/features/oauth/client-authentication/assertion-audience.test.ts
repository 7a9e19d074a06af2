// A client assertion names the issuer, the token endpoint or the endpoint that it is sent to, and no other.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { deviceCodeGrantType } from "../../../core/applications/application.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { postForm } from "../../../testing/fixtures/client.ts";
import {
  makeClient,
  makeOrganisation,
  startTestService,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

/** Each endpoint that authenticates clients, and what it needs besides. */
const calls: Readonly<Record<string, Record<string, string>>> = {
  token: { grant_type: "client_credentials" },
  revoke: { token: "x" },
  introspect: { token: "x" },
  device: { scope: "jobs:run" },
};

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let client: TestClient;
  let privateKey: CryptoKey;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    org = await makeOrganisation(running.service);
    const pair = await generateKeyPair("ES256");
    privateKey = pair.privateKey;
    client = await makeClient(running.service, org.organisation, {
      grantTypes: ["client_credentials", deviceCodeGrantType],
      allowedScopes: ["jobs:run"],
      tokenEndpointAuthMethod: "private_key_jwt",
      jwks: { keys: [{ ...(await exportJWK(pair.publicKey)), kid: "k", alg: "ES256" }] },
    });
  });
  after(() => running.close());

  test("accepts the issuer, the token endpoint and the endpoint that was called", async () => {
    const { id } = client.application;
    for (const [called, more] of Object.entries(calls))
      for (const named of ["", ...Object.keys(calls)]) {
        const jwt = await new SignJWT({ jti: randomUUID() })
          .setProtectedHeader({ alg: "ES256", kid: "k" })
          .setIssuer(id)
          .setSubject(id)
          .setAudience(named === "" ? org.issuer : `${org.issuer}/${named}`)
          .setExpirationTime("1h")
          .sign(privateKey);
        const { status } = await postForm(`${org.issuer}/${called}`, {
          client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
          client_assertion: jwt,
          ...more,
        });
        const isAccepted = ["", "token", called].includes(named);
        assert.equal(status, isAccepted ? 200 : 401, `${named} at ${called}`);
      }
  });
});
