/** Consents and pre-authorizations by API: given without a prompt, taken back with all that rests on them. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { changeCustomScope, createCustomScope } from "../../core/scopes/custom-scopes.ts";
import { createUser } from "../../core/users/users.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { authorizationRequest, authorize, testBrowser } from "../../testing/fakes/browser.ts";
import { credentials, getTokens, postForm, refresh } from "../../testing/fixtures/client.ts";
import {
  type ApiRequest,
  callApi,
  makeSystemAccount,
  type TestAccount,
} from "../../testing/fixtures/system-account.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

const scopes = ["openid", "email"];

describe("management API: consents and pre-authorizations", () => {
  forEachDatabase(({ fresh }) => {
    let running: TestService;
    let org: TestOrganisation;
    let admin: TestAccount;
    before(async () => {
      running = await startTestService({ databaseUrl: await fresh() });
      org = await makeOrganisation(running.service);
      admin = await makeSystemAccount(running.service, org, { administrator: true });
    });
    after(async () => {
      await running.close();
      assert.deepEqual(running.errors, []);
    });

    const call = (path: string, asked: ApiRequest = {}) =>
      callApi(`${running.baseUrl}/legacy/api/oauth/${path}`, admin, { strictAt: Date.now(), ...asked });
    const client = (more: object = {}) =>
      makeClient(running.service, org.organisation, {
        redirectUris: [REDIRECT_URI],
        allowedScopes: [...scopes, "phone", "payroll"],
        ...more,
      });
    const grant = async (path: string, body: object, status = 201) => {
      const answer = await call(path, { body });
      assert.equal(answer.status, status, answer.text);
      return { id: String(answer.body["id"]), ...answer };
    };
    const remove = async (path: string) => (await call(path, { method: "DELETE" })).status;
    const items = async (path: string) => (await call(path)).body["items"] as Record<string, unknown>[];
    const paths = (body: Record<string, unknown>) =>
      (body["errors"] as { path: string }[]).map(({ path }) => path).sort();
    const userOf = async (email: string) => ({
      id: await createUser(running.service, {
        organisation: org.organisation,
        email,
        password: org.user.password,
        firstname: "Una",
        surname: "User",
        role: "Standard",
        emailVerified: true,
        actor: "test",
      }),
      email,
      password: org.user.password,
    });
    /** Signs in afresh. @returns whether the user was asked */
    const isAsked = async ({ application }: TestClient, scope = "openid email", user = org.user) => {
      const { query } = authorizationRequest(application.id, REDIRECT_URI, { scope });
      const { email, password } = user;
      const answer = await authorize(testBrowser(), {
        issuer: org.issuer,
        query,
        email,
        password,
        decision: "deny",
      });
      assert.ok(answer.has("code") || answer.get("error") === "access_denied", String(answer));
      return !answer.has("code");
    };
    const isActive = async (accessToken: string, of: TestClient) =>
      (await postForm(`${org.issuer}/introspect`, { token: accessToken, ...credentials(of) })).body["active"];

    test("an organisation consent skips the prompt; revoking it revokes its tokens and restores the prompt", async () => {
      const one = await client();
      const body = { clientId: one.application.id.toUpperCase(), scopes };
      const given = await grant("consents/organisation", body);
      assert.deepEqual(Object.keys(given.body), [
        "id",
        "kind",
        "clientId",
        "scopes",
        "grantedBy",
        "grantedAt",
        "revokedAt",
      ]);
      assert.deepEqual(
        [given.body["kind"], given.body["clientId"], given.body["grantedBy"], given.body["revokedAt"]],
        ["organisation", one.application.id, `system-account:${admin.id}`, null],
      );
      assert.equal(given.headers.get("location"), `${running.baseUrl}/legacy/api/oauth/consents/${given.id}`);
      assert.deepEqual((await call(`consents/${given.id}`)).body, given.body);
      assert.equal(await isAsked(one), false);
      const tokens = await getTokens(org, { scope: "openid email" }, one);
      assert.equal(await isActive(tokens.accessToken, one), true);
      assert.equal(await remove(`consents/${given.id}`), 204);
      assert.equal((await refresh(org, tokens.refreshToken, {}, one)).body["error"], "invalid_grant");
      assert.equal(await isActive(tokens.accessToken, one), false);
      assert.equal(await isAsked(one), true);
      assert.equal(await remove(`consents/${given.id}`), 404, "once");
      assert.match(String((await call(`consents/${given.id}`)).body["revokedAt"]), /Z$/);
      assert.equal((await grant("consents/organisation", body)).status, 201, "another one, after it");
    });

    test("adds scopes to an existing consent", async () => {
      const one = await client();
      const clientId = one.application.id;
      const first = await grant("consents/organisation", { clientId, scopes: ["openid", "openid"] });
      const { id } = first;
      assert.deepEqual(first.body["scopes"], ["openid"]);
      const more = await grant("consents/organisation", { clientId, scopes: ["email", "email"] }, 200);
      assert.deepEqual([more.id, more.body["scopes"]], [id, ["openid", "email"]]);
    });

    test("a user consent applies to that user only, with the scopes' current claims", async () => {
      const { service } = running;
      const orgId = org.organisation.id;
      const content = { displayName: "Payroll", description: "", sensitive: false };
      const scope = await createCustomScope(service, {
        orgId,
        name: "payroll",
        ...content,
        claims: [{ name: "centre", source: "static", value: 1 }],
        actor: "test",
      });
      const [one, other] = [await client(), await userOf("other@acme.example")];
      const body = { clientId: one.application.id, scopes: ["openid", "payroll"], userId: org.user.id };
      const given = await grant("consents/user", body);
      assert.deepEqual([given.body["kind"], given.body["userId"]], ["user", org.user.id]);
      assert.equal(await isAsked(one, "openid payroll"), false);
      assert.equal(await isAsked(one, "openid payroll", other), true);
      const tokens = await getTokens(org, { scope: "openid payroll" }, one);
      const claims = [...scope.claims, { name: "salary", source: "static", value: 2 }] as const;
      await changeCustomScope(service, { orgId, id: scope.id, content: { claims }, actor: "test" });
      assert.equal(await isAsked(one, "openid payroll"), true, "it gives more than was said yes to");
      assert.equal(await remove(`consents/${given.id}`), 204);
      assert.equal((await refresh(org, tokens.refreshToken, {}, one)).body["error"], "invalid_grant");
    });

    test("filters lists by client, user and kind, with revoked consents on request", async () => {
      const [one, two, other] = [await client(), await client(), await userOf("listed@acme.example")];
      const [a, b] = [one.application.id, two.application.id];
      const wide = await grant("consents/organisation", { clientId: a, scopes });
      const mine = await grant("consents/user", { clientId: a, scopes, userId: other.id });
      const there = await grant("consents/user", { clientId: b, scopes, userId: other.id });
      const ids = async (query: string) => (await items(`consents?${query}`)).map(({ id }) => id);
      assert.deepEqual(await ids(`clientId=${a}`), [wide.id, mine.id]);
      assert.deepEqual(await ids(`userId=${other.id.toUpperCase()}`), [mine.id, there.id]);
      assert.deepEqual(await ids(`clientId=${a}&kind=organisation`), [wide.id]);
      assert.deepEqual(await ids(`clientId=${b}&userId=${other.id}&kind=user`), [there.id]);
      await remove(`consents/${mine.id}`);
      assert.deepEqual(await ids(`clientId=${a}`), [wide.id]);
      assert.deepEqual(await ids(`clientId=${a}&revoked=true`), [wide.id, mine.id]);
      const { body } = await call(`consents?userId=${other.id}&revoked=true&limit=1`);
      const rest = await call(
        `consents?userId=${other.id}&revoked=true&limit=1&cursor=${body["nextCursor"]}`,
      );
      assert.deepEqual(
        (rest.body["items"] as { id: string }[]).map(({ id }) => id),
        [there.id],
      );
      assert.equal(rest.body["nextCursor"], null);
    });

    test("a pre-authorization skips the prompt, also in organisation mode, and ends with its tokens", async () => {
      const one = await client({ consentMode: "organisation" });
      const body = { clientId: one.application.id, scopes };
      const made = await grant("preauthorizations", body);
      assert.deepEqual(Object.keys(made.body), ["id", "clientId", "scopes", "createdBy", "createdAt"]);
      assert.deepEqual((await call(`preauthorizations/${made.id}`)).body, made.body);
      assert.deepEqual(await items(`preauthorizations?clientId=${one.application.id}`), [made.body]);
      const tokens = await getTokens(org, { scope: "openid email" }, one);
      assert.equal(await remove(`preauthorizations/${made.id}`), 204);
      assert.equal((await refresh(org, tokens.refreshToken, {}, one)).body["error"], "invalid_grant");
      assert.equal(await remove(`preauthorizations/${made.id}`), 404);
      assert.equal((await call(`preauthorizations/${made.id}`)).status, 404);
    });

    test("rejects a duplicate pre-authorization in any scope order, also under concurrency", async () => {
      const { application } = await client();
      const clientId = application.id;
      const at = await Promise.all(
        [scopes, [...scopes].reverse(), scopes, scopes].map((wanted) =>
          call("preauthorizations", { body: { clientId, scopes: wanted } }),
        ),
      );
      assert.deepEqual(at.map(({ status }) => status).sort(), [201, 409, 409, 409]);
      await grant("preauthorizations", { clientId, scopes: ["openid"] });
      assert.equal((await items(`preauthorizations?clientId=${clientId}`)).length, 2);
    });

    test("responds 404 with a path for unknown references, and 422 for scopes that can't be requested", async () => {
      const { application } = await client();
      const foreign = await makeOrganisation(running.service, "Foreign");
      const body = { clientId: application.id, scopes };
      for (const path of ["consents/organisation", "consents/user", "preauthorizations"]) {
        const user = path === "consents/user" ? { userId: org.user.id } : {};
        for (const clientId of [randomUUID(), foreign.web.application.id]) {
          const refused = await call(path, { body: { ...body, ...user, clientId } });
          assert.deepEqual([refused.status, paths(refused.body)], [404, ["/clientId"]], path);
        }
        for (const wanted of [[], ["openid", "wages"], ["not a token"]]) {
          const refused = await call(path, { body: { ...body, ...user, scopes: wanted } });
          assert.deepEqual([refused.status, paths(refused.body)], [422, ["/scopes"]], path);
        }
        const forged = await call(path, { body: { ...body, ...user, grantedBy: "me", createdBy: "me" } });
        assert.deepEqual([forged.status, paths(forged.body)], [422, ["/createdBy", "/grantedBy"]], path);
      }
      for (const userId of [randomUUID(), foreign.user.id]) {
        const refused = await call("consents/user", { body: { ...body, userId } });
        assert.deepEqual([refused.status, paths(refused.body)], [404, ["/userId"]]);
      }
      assert.deepEqual(await items(`consents?clientId=${application.id}`), []);
    });

    test("deleting the client concurrently leaves no consent and causes no server error", async () => {
      const { application } = await client();
      const clientId = application.id;
      const [gone, ...others] = await Promise.all([
        call(`clients/${clientId}`, { method: "DELETE" }),
        ...Array.from({ length: 24 }, (_, n) =>
          n % 2
            ? call("consents/organisation", { body: { clientId, scopes } })
            : call(`clients/${clientId}/rotate-secret`, { body: {} }),
        ),
      ]);
      assert.equal(gone?.status, 204);
      for (const { status } of others) assert.ok([200, 201, 404].includes(status), String(status));
      assert.deepEqual(await items(`consents?clientId=${clientId}&revoked=true`), []);
    });
  });
});
