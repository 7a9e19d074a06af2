/** Token exchange: what a policy gives, chains of actors, lifetimes, ends, and what is refused and audited. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { ApplicationSettings } from "../../../../core/applications/application.ts";
import { setApplicationStatus } from "../../../../core/applications/applications.ts";
import { listAuditEvents } from "../../../../core/audit/audit.store.ts";
import { createCustomScope } from "../../../../core/scopes/custom-scopes.ts";
import { createExchangePolicy } from "../../../../core/token-exchange/exchange-policies.ts";
import { policySettings, type SentPolicy } from "../../../../core/token-exchange/policy-schemas.ts";
import { forEachDatabase } from "../../../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../../../testing/fakes/fake-clock.ts";
import { type Answer, credentials, getTokens, postForm } from "../../../../testing/fixtures/client.ts";
import { payloadOf } from "../../../../testing/probes/answers.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../../../../testing/test-service.ts";

const GRANT = "urn:ietf:params:oauth:grant-type:token-exchange" as const;
const ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token";
const BILLING = "https://billing.example";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let clock: FakeClock;
  /** Where the user signs in, for whose API the tokens are. */
  let portal: TestClient;
  let orders: TestClient;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock });
    org = await makeOrganisation(running.service);
    for (const name of ["billing:read", "billing:write"])
      await createCustomScope(running.service, {
        ...{
          orgId: org.organisation.id,
          name,
          displayName: name,
          description: "",
          claims: [],
          sensitive: false,
        },
        actor: "test",
      });
    orders = await client({ audience: "https://orders.example" });
    portal = await makeClient(running.service, org.organisation, {
      ...{ redirectUris: [REDIRECT_URI], requireConsent: false, audience: "https://orders.example" },
    });
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const client = (settings: Partial<ApplicationSettings> = {}) =>
    makeClient(running.service, org.organisation, {
      ...{ grantTypes: [GRANT, "client_credentials"], allowedScopes: ["profile"], ...settings },
    });
  const policy = (of: TestClient, sent: Partial<SentPolicy> = {}) =>
    createExchangePolicy(
      { ...running.service, baseUrl: running.baseUrl },
      {
        ...{ orgId: org.organisation.id, actor: "test" },
        settings: policySettings({
          ...{
            name: "Test",
            clientId: of.application.id,
            target: BILLING,
            scopes: ["billing:read", "billing:write"],
          },
          ...sent,
        }),
      },
    );
  const exchange = (of: TestClient, subject: string, more: Record<string, string> = {}): Promise<Answer> =>
    postForm(`${org.issuer}/token`, {
      ...{ grant_type: GRANT, ...credentials(of), subject_token: subject, subject_token_type: ACCESS_TOKEN },
      ...{ resource: BILLING, ...more },
    });
  const introspect = async (token: unknown, by: TestClient) =>
    (await postForm(`${org.issuer}/introspect`, { ...credentials(by), token: String(token) })).body;
  const refused = ({ status, body }: Answer, error: string, about = "") =>
    assert.deepEqual([status, body["error"]], [400, error], `${about} ${JSON.stringify(body)}`);
  const userToken = async () => (await getTokens(org, { scope: "openid profile" }, portal)).accessToken;

  test("the client becomes the actor of a token for the policy's target", async () => {
    await policy(orders);
    const { status, body } = await exchange(orders, await userToken(), {
      scope: "billing:read profile other",
    });
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual(
      [body["issued_token_type"], body["token_type"], body["scope"], body["refresh_token"], body["id_token"]],
      [ACCESS_TOKEN, "Bearer", "billing:read", undefined, undefined],
    );
    const claims = payloadOf(body["access_token"]);
    const act = { iss: org.issuer, sub: orders.application.id };
    assert.deepEqual(
      [claims["sub"], claims["client_id"], claims["aud"], claims["act"]],
      [org.user.id, orders.application.id, BILLING, act],
    );
    const described = await introspect(body["access_token"], orders);
    assert.deepEqual(
      [described["active"], described["act"], described["scope"]],
      [true, act, "billing:read"],
    );
    const events = await listAuditEvents(running.service.database.query, org.organisation.id, 5);
    const event = events.find(({ action }) => action === "token.exchanged");
    assert.deepEqual([event?.actor, event?.target], [`client:${orders.application.id}`, org.user.id]);
    const all = await exchange(orders, await userToken());
    assert.equal(all.body["scope"], "billing:read billing:write");
    const byAudience = await exchange(orders, await userToken(), { resource: "", audience: BILLING });
    assert.equal(byAudience.status, 200, JSON.stringify(byAudience.body));
  });

  test("with impersonation the token names no actor", async () => {
    const own = await client({ audience: "https://orders.example" });
    await policy(own, { impersonation: true });
    const claims = payloadOf((await exchange(own, await userToken())).body["access_token"]);
    assert.deepEqual([claims["sub"], claims["act"]], [org.user.id, undefined]);
  });

  test("with impersonation a chain is no longer than with actors, of users and of clients", async () => {
    const own = await client({ audience: "https://orders.example" });
    await policy(own, { impersonation: true, scopes: ["profile"] });
    const issued = await postForm(`${org.issuer}/token`, {
      grant_type: "client_credentials",
      ...credentials(own),
    });
    for (const first of [await userToken(), String(issued.body["access_token"])]) {
      let token = first;
      for (let count = 0; count < 4; count++) {
        const next = await exchange(own, token);
        assert.equal(next.status, 200, JSON.stringify(next.body));
        token = String(next.body["access_token"]);
      }
      refused(await exchange(own, token), "invalid_request", "a fifth");
      assert.equal((await introspect(token, own))["active"], true);
    }
  });

  test("ends with the subject token itself, and with its client", async () => {
    const own = await client({ audience: "https://orders.example" });
    await policy(own);
    const subject = await userToken();
    const derived = await exchange(own, subject);
    assert.equal((await introspect(derived.body["access_token"], own))["active"], true);
    await postForm(`${org.issuer}/revoke`, { ...credentials(portal), token: subject });
    assert.equal(
      (await introspect(derived.body["access_token"], own))["active"],
      false,
      "revoked by its jti",
    );
    const short = await makeClient(running.service, org.organisation, {
      ...{ redirectUris: [REDIRECT_URI], requireConsent: false, audience: "https://orders.example" },
    });
    const { accessToken } = await getTokens(org, { scope: "openid profile" }, short);
    const second = await exchange(own, accessToken);
    assert.equal((await introspect(second.body["access_token"], own))["active"], true);
    const { orgId, id } = short.application;
    await setApplicationStatus(running.service, { orgId, id, disabled: true, actor: "test" });
    assert.equal(
      (await introspect(second.body["access_token"], own))["active"],
      false,
      "its client is disabled",
    );
  });

  test("it lives no longer than the policy and the subject allow", async () => {
    const own = await client({ audience: "https://orders.example" });
    await policy(own, { maxLifetimeSeconds: 120 });
    const subject = await userToken();
    const first = await exchange(own, subject);
    assert.equal(first.body["expires_in"], 120);
    clock.advance(3_550_000);
    const late = await exchange(own, subject);
    assert.equal(late.body["expires_in"], 50);
    assert.equal(payloadOf(late.body["access_token"])["exp"], payloadOf(subject)["exp"]);
    clock.advance(50_000);
    refused(await exchange(own, subject), "invalid_request", "expired");
  });

  test("a chain names every actor, four at most, and ends with the first token's family", async () => {
    const services: TestClient[] = [];
    for (let index = 0; index < 5; index++) {
      const of = await client({ audience: `https://s${index}.example` });
      await policy(of, { target: `https://s${index + 1}.example`, scopes: ["profile"] });
      services.push(of);
    }
    const first = await client({ audience: "https://orders.example" });
    await policy(first, { target: "https://s0.example", scopes: ["profile"] });
    const { accessToken, refreshToken } = await getTokens(org, { scope: "openid profile" }, portal);
    let token = (await exchange(first, accessToken, { resource: "https://s0.example" })).body["access_token"];
    for (const [index, of] of services.slice(0, 3).entries()) {
      const next = await exchange(of, String(token), { resource: `https://s${index + 1}.example` });
      assert.equal(next.status, 200, JSON.stringify(next.body));
      token = next.body["access_token"];
    }
    const actors: string[] = [];
    for (let act = payloadOf(token)["act"] as { sub: string; act?: never } | undefined; act; act = act.act)
      actors.push(act.sub);
    const ids = [first, ...services.slice(0, 3)].map(({ application }) => application.id);
    assert.deepEqual(actors, ids.toReversed());
    const [, , , fourth] = services;
    assert.ok(fourth);
    refused(
      await exchange(fourth, String(token), { resource: "https://s4.example" }),
      "invalid_request",
      "a fifth",
    );
    assert.equal((await introspect(token, fourth))["active"], true);
    await postForm(`${org.issuer}/revoke`, { ...credentials(portal), token: refreshToken });
    assert.equal((await introspect(token, fourth))["active"], false);
    refused(
      await exchange(first, accessToken, { resource: "https://s0.example" }),
      "invalid_request",
      "revoked",
    );
  });

  test("a client's own token is exchanged too, and ends with the client", async () => {
    const subject = await client();
    await policy(orders, { subjectClientIds: [subject.application.id], target: "https://jobs.example" });
    const own = await client({ audience: "https://orders.example" });
    const issued = await postForm(`${org.issuer}/token`, {
      grant_type: "client_credentials",
      ...credentials(own),
    });
    await policy(orders, { subjectClientIds: [own.application.id], target: "https://own.example" });
    const { status, body } = await exchange(orders, String(issued.body["access_token"]), {
      resource: "https://own.example",
    });
    assert.equal(status, 200, JSON.stringify(body));
    assert.equal(payloadOf(body["access_token"])["sub"], own.application.id);
    const described = await introspect(body["access_token"], orders);
    assert.deepEqual([described["active"], described["scope"]], [true, "billing:read billing:write"]);
    const again = await postForm(`${org.issuer}/token`, {
      grant_type: "client_credentials",
      ...credentials(own),
    });
    const subjectToken = String(again.body["access_token"]);
    const derived = await exchange(orders, subjectToken, { resource: "https://own.example" });
    await postForm(`${org.issuer}/revoke`, { ...credentials(own), token: subjectToken });
    assert.equal(
      (await introspect(derived.body["access_token"], orders))["active"],
      false,
      "ends with its subject",
    );
    const { orgId, id } = own.application;
    await setApplicationStatus(running.service, { orgId, id, disabled: true, actor: "test" });
    assert.equal((await introspect(body["access_token"], orders))["active"], false);
  });

  test("refuses subjects, targets, scopes and actors by the RFC's codes, and audits the refusal", async () => {
    const own = await client({ audience: "https://orders.example" });
    await policy(own, { subjectClientIds: [portal.application.id] });
    const subject = await userToken();
    const type = (name: string) => `urn:ietf:params:oauth:token-type:${name}`;
    const rows: Array<[more: Record<string, string>, error: string]> = [
      [{ subject_token: "x" }, "invalid_request"],
      [{ subject_token: `${subject}x` }, "invalid_request"],
      [{ subject_token: "" }, "invalid_request"],
      [{ subject_token_type: type("jwt") }, "invalid_request"],
      [{ subject_token_type: "" }, "invalid_request"],
      [{ requested_token_type: type("refresh_token") }, "invalid_request"],
      [{ actor_token: subject, actor_token_type: ACCESS_TOKEN }, "invalid_request"],
      [{ resource: "" }, "invalid_request"],
      [{ resource: "https://other.example" }, "invalid_target"],
      [{ audience: "https://other.example" }, "invalid_target"],
      [{ scope: "other" }, "invalid_scope"],
      [{ scope: "openid" }, "invalid_scope"],
      [{ scope: 'a"b' }, "invalid_scope"],
    ];
    for (const [more, error] of rows)
      refused(await exchange(own, subject, more), error, JSON.stringify(more));
    refused(await exchange(await client(), subject), "invalid_target", "a client without a policy");
    const stranger = await client();
    await policy(stranger);
    refused(await exchange(stranger, subject), "invalid_request", "a token that is not for the client");
    const other = await client({ audience: "https://orders.example" });
    await policy(other, { subjectClientIds: [orders.application.id] });
    refused(await exchange(other, subject), "invalid_request", "a token of another client");
    const foreign = await makeOrganisation(running.service, "Other");
    refused(
      await exchange(own, (await getTokens(foreign)).accessToken),
      "invalid_request",
      "another organisation's",
    );
    const without = await client({ grantTypes: ["client_credentials"] });
    refused(await exchange(without, subject), "unauthorized_client");
    const events = await listAuditEvents(running.service.database.query, org.organisation.id, 200);
    const ofOwn = events.filter(
      ({ action, target }) => action === "token-exchange.refused" && target === own.application.id,
    );
    assert.equal(ofOwn.length, 1, "once a minute");
    assert.equal((await exchange(own, subject)).status, 200);
  });
});
