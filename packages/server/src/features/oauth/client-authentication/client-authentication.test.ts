import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { findApplication } from "../../../core/applications/applications.store.ts";
import { setApplicationStatus } from "../../../core/applications/applications.ts";
import { createClientSecret, revokeSecret } from "../../../core/applications/client-secrets.ts";
import { setOrganisationStatus } from "../../../core/organisations/organisations.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { type Answer, credentials, postForm } from "../../../testing/fixtures/client.ts";
import { assertOAuthError, postText } from "../../../testing/probes/answers.ts";
import {
  makeClient,
  makeOrganisation,
  startTestService,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

const basic = (id: string, secret: string) => ({
  authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString("base64")}`,
});

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let other: TestOrganisation;
  let clock: FakeClock;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock });
    org = await makeOrganisation(running.service);
    other = await makeOrganisation(running.service, "Other");
  });
  after(() => running.close());

  const GRANT = { grant_type: "client_credentials" };
  const ask = (form: Record<string, string>, headers: Record<string, string> = {}, issuer = org.issuer) =>
    postForm(`${issuer}/token`, { ...GRANT, ...form }, headers);
  const refused = (answer: Answer, about = "") => {
    assertOAuthError(answer, 401, "invalid_client", about);
    // RFC 9110 §15.5.2: a 401 always says how to do better.
    assert.equal(answer.headers.get("www-authenticate"), `Basic realm="${org.organisation.id}"`, about);
  };
  const jobClient = () =>
    makeClient(running.service, org.organisation, {
      grantTypes: ["client_credentials"],
      allowedScopes: ["jobs:run"],
    });
  const addSecret = (client: TestClient, expiresAt: number | null = null) =>
    createClientSecret(running.service, {
      orgId: org.organisation.id,
      applicationId: client.application.id,
      label: "another",
      expiresAt,
      actor: "test",
    });

  test("accepts the client secret in the body and in the header", async () => {
    const { application, secret } = org.batch;
    assert.equal((await ask(credentials(org.batch))).status, 200);
    assert.equal((await ask({}, basic(application.id, secret))).status, 200);
    assert.equal((await ask({ client_id: application.id }, basic(application.id, secret))).status, 200);
    assert.equal((await ask({}, basic(application.id.toUpperCase(), secret))).status, 200);
  });

  test("decodes form-urlencoded credentials in the Authorization header (RFC 6749 §2.3.1)", async () => {
    const { application, secret } = org.batch;
    const escaped = (text: string) => text.replace(/[-_]/g, (sign) => (sign === "-" ? "%2d" : "%5F"));
    assert.equal((await ask({}, basic(escaped(application.id), escaped(secret)))).status, 200);
    refused(await ask({}, basic(application.id, `${secret}+`)), "a plus is a space");
    refused(await ask({}, basic(application.id, `${secret}%`)), "a broken escape");
    refused(await ask({}, basic(application.id, secret.replaceAll("_", "%255F"))), "escaped twice");
  });

  test("responds with invalid_request to two authentication methods and to two client identifiers", async () => {
    const { application, secret } = org.batch;
    const both = await ask(credentials(org.batch), basic(application.id, secret));
    assertOAuthError(both, 400, "invalid_request");
    const named = await ask({ client_id: org.web.application.id }, basic(application.id, secret));
    assertOAuthError(named, 400, "invalid_request");
    const bearer = await ask(credentials(org.batch), { authorization: "Bearer x" });
    assertOAuthError(bearer, 400, "invalid_request");
  });

  test("responds with invalid_client to a malformed Authorization header, never with 500", async () => {
    const { application, secret } = org.batch;
    const nonsense = [
      "Basic",
      "Basic ",
      "Basic !!!!",
      "Basic OnM=",
      "Bearer abc",
      "Negotiate x",
      "x",
      "Basic Og==",
    ];
    for (const authorization of nonsense) refused(await ask({}, { authorization }), authorization);
    const noColon = Buffer.from(application.id).toString("base64");
    refused(await ask({}, { authorization: `Basic ${noColon}` }), "no colon");
    const bytes = Buffer.concat([Buffer.from(`${application.id}:${secret}`), Buffer.from([0xff, 0])]);
    refused(await ask({}, { authorization: `Basic ${bytes.toString("base64")}` }), "not UTF-8");
  });

  test("gives one response to a missing client, an unknown client and a wrong or missing secret", async () => {
    const { application, secret } = org.batch;
    const unknown = "0197b0a0-0000-7000-8000-000000000000";
    const forms: Record<string, string>[] = [
      { client_id: unknown, client_secret: secret },
      { client_id: "nonsense", client_secret: secret },
      { client_id: `${application.id} `, client_secret: secret },
      { client_id: application.id, client_secret: "wrong" },
      { client_id: application.id, client_secret: `${secret}x` },
      { client_id: application.id, client_secret: secret.slice(0, -1) },
      { client_id: application.id, client_secret: secret.toUpperCase() },
      { client_id: application.id, client_secret: org.web.secret },
      { client_id: application.id },
      { client_id: application.id, client_secret: "" },
    ];
    const bodies = new Set<string>();
    for (const form of forms) {
      const answer = await ask(form);
      refused(answer, JSON.stringify(form));
      bodies.add(JSON.stringify(answer.body));
    }
    assert.equal(bodies.size, 1);
    refused(await ask({ client_secret: secret }), "no client_id");
    refused(await ask({}), "nothing");
  });

  test("rejects the stored hash of a secret as the secret", async () => {
    const { application } = org.batch;
    const stored = await findApplication(running.service.database.query, org.organisation.id, application.id);
    const hash = stored?.secrets[0]?.hash ?? "";
    assert.equal(hash.length, 43);
    refused(await ask({ client_id: application.id, client_secret: hash }));
    refused(await ask({ client_id: application.id, client_secret: `sgn_cs_${hash}` }));
  });

  test("identifies a public client by client_id alone", async () => {
    const code = { grant_type: "authorization_code", code: "x", client_id: org.native.id };
    const url = `${org.issuer}/token`;
    assertOAuthError(await postForm(url, code), 400, "invalid_grant", "the client was accepted");
    refused(await postForm(url, { ...code, client_secret: "x" }), "with a secret that it cannot have");
    refused(await postForm(url, { ...code, client_secret: org.web.secret }), "with another client's secret");
    const { client_id: _, ...unnamed } = code;
    refused(await postForm(url, unnamed, basic(org.native.id, "")), "in a header, with an empty secret");
    assertOAuthError(await ask({ client_id: org.native.id }), 400, "unauthorized_client");
  });

  test("rejects a confidential client that sends no secret", async () => {
    const code = { grant_type: "authorization_code", code: "x", client_id: org.web.application.id };
    refused(await postForm(`${org.issuer}/token`, code));
    refused(await postForm(`${org.issuer}/token`, { ...code, client_secret: "" }));
    refused(await postForm(`${org.issuer}/revoke`, { token: "x", client_id: org.web.application.id }));
  });

  test("accepts both secrets during rotation, then the new one only", async () => {
    const client = await jobClient();
    const second = await addSecret(client);
    const newer = { ...client, secret: second.plaintext };
    assert.equal((await ask(credentials(client))).status, 200);
    assert.equal((await ask(credentials(newer))).status, 200);
    const { id: applicationId, orgId } = client.application;
    const stored = await findApplication(running.service.database.query, orgId, applicationId);
    const old = stored?.secrets.find(({ id }) => id !== second.secret.id);
    const gone = { orgId, applicationId, id: old?.id ?? "", actor: "test" };
    assert.equal(await revokeSecret(running.service, gone), true);
    refused(await ask(credentials(client)), "revoked");
    assert.equal((await ask(credentials(newer))).status, 200);
    assert.equal(await revokeSecret(running.service, gone), false, "once is enough");
    assert.equal(await revokeSecret(running.service, { ...gone, orgId: other.organisation.id }), false);
  });

  test("rejects a secret from the millisecond of its expiry", async () => {
    const client = await jobClient();
    const { plaintext } = await addSecret(client, clock() + 1_000);
    const expiring = { ...client, secret: plaintext };
    assert.equal((await ask(credentials(expiring))).status, 200);
    clock.advance(999);
    assert.equal((await ask(credentials(expiring))).status, 200);
    clock.advance(1);
    refused(await ask(credentials(expiring)), "expired");
    assert.equal((await ask(credentials(client))).status, 200, "the other secret is untouched");
  });

  test("treats a disabled client as unknown at every endpoint until it is enabled", async () => {
    const client = await jobClient();
    const { orgId, id } = client.application;
    assert.equal((await ask(credentials(client))).status, 200);
    await setApplicationStatus(running.service, { orgId, id, disabled: true, actor: "test" });
    refused(await ask(credentials(client)));
    const token = { token: "x", ...credentials(client) };
    for (const endpoint of ["introspect", "revoke"])
      refused(await postForm(`${org.issuer}/${endpoint}`, token), endpoint);
    await setApplicationStatus(running.service, { orgId, id, disabled: false, actor: "test" });
    assert.equal((await ask(credentials(client))).status, 200);
  });

  test("treats another organisation's client and its credentials as unknown", async () => {
    refused(await ask(credentials(other.batch)));
    refused(await ask({}, basic(other.batch.application.id, other.batch.secret)));
    for (const endpoint of ["introspect", "revoke"]) {
      const form = { token: "x", ...credentials(other.batch) };
      refused(await postForm(`${org.issuer}/${endpoint}`, form), endpoint);
    }
    const foreignOrg = { orgId: other.organisation.id, id: org.batch.application.id };
    const gone = await setApplicationStatus(running.service, {
      ...foreignOrg,
      disabled: true,
      actor: "test",
    });
    assert.equal(gone, false, "nor can it be disabled from there");
    assert.equal((await ask(credentials(org.batch))).status, 200);
  });

  test("responds with 404 for a disabled organisation", async () => {
    const shut = await makeOrganisation(running.service, "Shut");
    const url = `${shut.issuer}/token`;
    assert.equal((await postForm(url, { ...GRANT, ...credentials(shut.batch) })).status, 200);
    const change = { orgId: shut.organisation.id, actor: "test" };
    await setOrganisationStatus(running.service, { ...change, disabled: true });
    for (const endpoint of ["token", "introspect", "revoke", "userinfo"]) {
      const answer = await postForm(`${shut.issuer}/${endpoint}`, { ...GRANT, ...credentials(shut.batch) });
      assert.equal(answer.status, 404, endpoint);
    }
    await setOrganisationStatus(running.service, { ...change, disabled: false });
    assert.equal((await postForm(url, { ...GRANT, ...credentials(shut.batch) })).status, 200);
  });

  test("authenticates clients by the same rules at revoke and introspect", async () => {
    const { application, secret } = org.batch;
    for (const endpoint of ["introspect", "revoke"]) {
      const url = `${org.issuer}/${endpoint}`;
      assert.equal((await postForm(url, { token: "x", ...credentials(org.batch) })).status, 200, endpoint);
      assert.equal(
        (await postForm(url, { token: "x" }, basic(application.id, secret))).status,
        200,
        endpoint,
      );
      refused(await postForm(url, { token: "x" }), endpoint);
      refused(await postForm(url, { token: "x" }, basic(application.id, "wrong")), endpoint);
      const both = await postForm(
        url,
        { token: "x", ...credentials(org.batch) },
        basic(application.id, secret),
      );
      assertOAuthError(both, 400, "invalid_request", endpoint);
      const twice = `token=x&token=y&${new URLSearchParams(credentials(org.batch))}`;
      assertOAuthError(await postText(url, twice), 400, "invalid_request", endpoint);
      assertOAuthError(await postForm(url, credentials(org.batch)), 400, "invalid_request", endpoint);
    }
  });
});
