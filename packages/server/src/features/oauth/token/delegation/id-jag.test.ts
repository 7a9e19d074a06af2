/** Identity assertions: issued to another server by a policy, and accepted from one by a trust. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import type { ApplicationSettings } from "../../../../core/applications/application.ts";
import { createApplication } from "../../../../core/applications/applications.ts";
import { listAuditEvents } from "../../../../core/audit/audit.store.ts";
import { seconds } from "../../../../core/clock.ts";
import { createExchangePolicy } from "../../../../core/token-exchange/exchange-policies.ts";
import { policySettings } from "../../../../core/token-exchange/policy-schemas.ts";
import { type SentTrust, trustSettings } from "../../../../core/trusts/trust-schemas.ts";
import { createTrust } from "../../../../core/trusts/trusts.ts";
import { forEachDatabase } from "../../../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../../../testing/fakes/fake-clock.ts";
import { startWorkloadIssuer, type WorkloadIssuer } from "../../../../testing/fakes/workload-issuer.ts";
import {
  type Answer,
  credentials,
  getTokens,
  postForm,
  refresh,
} from "../../../../testing/fixtures/client.ts";
import { headerOf, payloadOf } from "../../../../testing/probes/answers.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../../../../testing/test-service.ts";

const EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange" as const;
const JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer" as const;
const TYPE = "urn:ietf:params:oauth:token-type:";
const FOREIGN = "https://as.partner.example";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let clock: FakeClock;
  let issuer: WorkloadIssuer;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({
      databaseUrl: await fresh(),
      clock,
      env: { SIGNET_OUTBOUND_ALLOW: "localhost" },
    });
    org = await makeOrganisation(running.service);
    issuer = await startWorkloadIssuer(clock, "ES384");
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
    await issuer.close();
  });

  const deps = () => ({ ...running.service, baseUrl: running.baseUrl });
  const refused = ({ status, body }: Answer, error: string, about = "") =>
    assert.deepEqual(
      [status, body["error"]],
      [error === "invalid_client" ? 401 : 400, error],
      `${about} ${JSON.stringify(body)}`,
    );

  const portalOf = (at = org, more: Partial<ApplicationSettings> = {}) =>
    makeClient(running.service, at.organisation, {
      ...{
        redirectUris: [REDIRECT_URI],
        requireConsent: false,
        grantTypes: ["authorization_code", "refresh_token", EXCHANGE],
        ...more,
      },
    });
  const policyFor = (of: TestClient, more: object = {}, at = org) =>
    createExchangePolicy(deps(), {
      ...{ orgId: at.organisation.id, actor: "test" },
      settings: policySettings({
        ...{ name: "Partner", clientId: of.application.id, requestedTokenType: "id_jag", target: FOREIGN },
        ...{ scopes: ["chat:read", "chat:write"], foreignClientId: "as-known-there", ...more },
      }),
    });
  const assertionFor = (of: TestClient, idToken: string, more: Record<string, string> = {}, at = org) =>
    postForm(`${at.issuer}/token`, {
      ...{ grant_type: EXCHANGE, ...credentials(of), subject_token: idToken, audience: FOREIGN },
      ...{ subject_token_type: `${TYPE}id_token`, requested_token_type: `${TYPE}id-jag`, ...more },
    });

  test("a client's own ID token becomes an assertion for the policy's server", async () => {
    const portal = await portalOf();
    await policyFor(portal);
    const { idToken } = await getTokens(org, { scope: "openid" }, portal);
    const { status, body } = await assertionFor(portal, idToken, {
      scope: "chat:read other",
      resource: "https://chat.example",
    });
    assert.equal(status, 200, JSON.stringify(body));
    const { access_token: jag, ...answer } = body;
    assert.deepEqual(answer, {
      ...{ issued_token_type: `${TYPE}id-jag`, token_type: "N_A", expires_in: 300, scope: "chat:read" },
    });
    assert.equal(headerOf(jag)["typ"], "oauth-id-jag+jwt");
    const { jti, ...claims } = payloadOf(jag);
    const now = seconds(clock());
    const { auth_time, acr, amr } = payloadOf(idToken);
    assert.deepEqual(claims, {
      ...{
        iss: org.issuer,
        sub: org.user.id,
        aud: FOREIGN,
        client_id: "as-known-there",
        iat: now,
        exp: now + 300,
      },
      ...{ scope: "chat:read", resource: "https://chat.example", auth_time, acr, amr },
    });
    assert.equal(typeof jti, "string");
    const described = await postForm(`${org.issuer}/introspect`, {
      ...credentials(portal),
      token: String(jag),
    });
    assert.deepEqual(described.body, { active: false }, "it is no access token");
    const own = { grant_type: JWT_BEARER, ...credentials(portal), assertion: String(jag) };
    refused(await postForm(`${org.issuer}/token`, own), "unauthorized_client");
  });

  test("an assertion for another server is never signed with ML-DSA, which ID tokens may be", async () => {
    const portal = await portalOf(org, { idTokenSignedResponseAlg: "ML-DSA-44" });
    await policyFor(portal);
    const { idToken } = await getTokens(org, { scope: "openid" }, portal);
    assert.equal(headerOf(idToken)["alg"], "ML-DSA-44");
    const { status, body } = await assertionFor(portal, idToken, { scope: "chat:read" });
    assert.equal(status, 200, JSON.stringify(body));
    assert.equal(headerOf(body["access_token"])["alg"], "ES256");
  });

  test("refuses other ID tokens, targets and scopes", async () => {
    const portal = await portalOf();
    await policyFor(portal);
    const { idToken, accessToken, refreshToken } = await getTokens(org, { scope: "openid" }, portal);
    const stranger = await getTokens(org, { scope: "openid" });
    refused(await assertionFor(portal, stranger.idToken), "invalid_request", "of another client");
    refused(await assertionFor(portal, accessToken), "invalid_request", "an access token");
    refused(await assertionFor(portal, idToken, { audience: "https://other.example" }), "invalid_target");
    refused(await assertionFor(portal, idToken, { audience: "" }), "invalid_request");
    refused(await assertionFor(portal, idToken, { scope: "openid" }), "invalid_scope");
    refused(await assertionFor(portal, idToken, { resource: "x" }), "invalid_target");
    refused(
      await assertionFor(portal, idToken, { subject_token_type: `${TYPE}access_token` }),
      "invalid_request",
    );
    assert.equal((await assertionFor(portal, idToken)).status, 200);
    const withdrawn = await portalOf();
    await policyFor(withdrawn);
    const granted = await getTokens(org, { scope: "openid" }, withdrawn);
    await postForm(`${org.issuer}/revoke`, { ...credentials(withdrawn), token: granted.refreshToken });
    refused(await assertionFor(withdrawn, granted.idToken), "invalid_request", "revoked");
    clock.advance(3_601_000);
    refused(await assertionFor(portal, idToken), "invalid_request", "expired");
    assert.equal((await refresh(org, refreshToken, {}, portal)).status, 200);
  });

  const client = (settings: Partial<ApplicationSettings> = {}, at = org) =>
    makeClient(running.service, at.organisation, {
      ...{
        grantTypes: [JWT_BEARER],
        allowedScopes: ["openid", "profile", "chat:read"],
        allowedResources: ["https://chat.example"],
      },
      ...settings,
    });
  const trust = (sent: SentTrust = {}, at = org) =>
    createTrust(deps(), {
      ...{ orgId: at.organisation.id, actor: "test" },
      settings: trustSettings("id_jag", { issuer: issuer.issuer, ...sent }),
    });
  const jag = (of: TestClient, more: object = {}, header: object = {}) =>
    issuer.sign(
      {
        ...{
          sub: org.user.id,
          aud: org.issuer,
          client_id: of.application.id,
          scope: "openid profile chat:read chat:admin",
        },
        ...more,
      },
      { typ: "oauth-id-jag+jwt", ...header },
    );
  const present = (
    of: TestClient,
    assertion: string,
    more: Record<string, string> = {},
    at = org,
  ): Promise<Answer> =>
    postForm(`${at.issuer}/token`, { grant_type: JWT_BEARER, ...credentials(of), assertion, ...more });

  test("another issuer's assertion gives an access token for its user, once", async () => {
    await trust();
    const of = await client();
    const assertion = await jag(of, { auth_time: seconds(clock()) - 60, amr: ["hwk"], acr: "phr" });
    const [one, two] = await Promise.all([present(of, assertion), present(of, assertion)]);
    assert.deepEqual([one.status, two.status].toSorted(), [200, 400]);
    const { body } = one.status === 200 ? one : two;
    assert.deepEqual(
      [body["refresh_token"], body["id_token"], body["scope"]],
      [undefined, undefined, "openid profile chat:read"],
    );
    const claims = payloadOf(body["access_token"]);
    assert.deepEqual(
      [claims["sub"], claims["client_id"], claims["acr"], claims["amr"], claims["auth_time"]],
      [org.user.id, of.application.id, "urn:signet:acr:pwd", ["hwk"], seconds(clock()) - 60],
    );
    const [event] = await listAuditEvents(running.service.database.query, org.organisation.id, 1);
    assert.deepEqual([event?.action, event?.target], ["identity-assertion.accepted", org.user.id]);
    const introspected = await postForm(`${org.issuer}/introspect`, {
      ...credentials(of),
      token: String(body["access_token"]),
    });
    assert.equal(introspected.body["active"], true);
    await postForm(`${org.issuer}/revoke`, { ...credentials(of), token: String(body["access_token"]) });
    const after = await postForm(`${org.issuer}/introspect`, {
      ...credentials(of),
      token: String(body["access_token"]),
    });
    assert.equal(after.body["active"], false);
  });

  test("scope and resource are what assertion, request and client have in common", async () => {
    const of = await client();
    const asked = await present(of, await jag(of, { scope: "profile chat:read" }), {
      scope: "chat:read openid",
    });
    assert.equal(asked.body["scope"], "chat:read");
    refused(await present(of, await jag(of, { scope: "profile" }), { scope: "chat:read" }), "invalid_scope");
    refused(await present(of, await jag(of, { scope: undefined })), "invalid_scope");
    const api = await client({ allowedScopes: ["signet:users:read", "profile"] });
    refused(await present(api, await jag(api, { scope: "signet:users:read" })), "invalid_scope", "the API");
    const bound = await present(
      of,
      await jag(of, { scope: "profile", resource: ["https://chat.example", "https://x.example"] }),
    );
    assert.equal(payloadOf(bound.body["access_token"])["aud"], "https://chat.example");
    refused(await present(of, await jag(of, { resource: "https://x.example" })), "invalid_target");
    const other = { resource: "https://chat.example" };
    refused(await present(of, await jag(of, { resource: "https://x.example" }), other), "invalid_target");
  });

  test("whatever else is wrong is invalid_grant", async () => {
    const of = await client();
    const now = seconds(clock());
    const changes: object[] = [
      ...[
        { client_id: org.web.application.id },
        { client_id: undefined },
        { sub: randomUUID() },
        { sub: "x" },
        { sub: undefined },
      ],
      ...[
        { aud: `${org.issuer}/token` },
        { aud: [org.issuer, "https://x.example"] },
        { iss: "https://x.example" },
        { iss: org.issuer },
      ],
      ...[
        { exp: now },
        { exp: now + 601 },
        { iat: now - 400, exp: now + 201 },
        { jti: undefined },
        { jti: "" },
      ],
    ];
    for (const change of changes)
      refused(await present(of, await jag(of, change)), "invalid_grant", JSON.stringify(change));
    refused(await present(of, await jag(of, {}, { typ: "JWT" })), "invalid_grant", "typ");
    const nobody = { grant_type: JWT_BEARER, client_id: of.application.id, assertion: await jag(of) };
    refused(await postForm(`${org.issuer}/token`, nobody), "invalid_client", "without authentication");
    refused(await present({ ...of, secret: "sgn_cs_x" }, await jag(of)), "invalid_client");
    const open = await createApplication(running.service, {
      ...{ orgId: org.organisation.id, name: "Open", clientType: "public", actor: "test" },
      settings: { grantTypes: [JWT_BEARER] },
    });
    const byOpen = {
      grant_type: JWT_BEARER,
      client_id: open.id,
      assertion: await jag({ application: open, secret: "" }),
    };
    refused(await postForm(`${org.issuer}/token`, byOpen), "unauthorized_client", "a public client");
    const other = await makeOrganisation(running.service, "Other");
    const there = await client({}, other);
    refused(
      await present(there, await jag(there, { aud: other.issuer }), {}, other),
      "invalid_grant",
      "an organisation without the trust",
    );
  });

  test("what one organisation issues another accepts by its trust, and no organisation its own", async () => {
    const partner = await makeOrganisation(running.service, "Partner");
    const portal = await portalOf();
    const of = await client({}, partner);
    await policyFor(portal, {
      target: partner.issuer,
      foreignClientId: of.application.id,
      scopes: ["profile"],
    });
    await trust({ issuer: org.issuer, jwksUri: `${org.issuer}/.well-known/jwks.json` }, partner);
    const { idToken } = await getTokens(org, { scope: "openid" }, portal);
    const issued = await assertionFor(portal, idToken, { audience: partner.issuer });
    // Its user is no member there.
    refused(await present(of, String(issued.body["access_token"]), {}, partner), "invalid_grant");
    refused(await present(await client(), String(issued.body["access_token"])), "invalid_grant");
  });
});
