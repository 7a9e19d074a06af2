/** Custom scopes by API: what may be claimed, what is refused, and that what was read can be sent back. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { forEachDatabase } from "../../testing/databases.ts";
import { postForm } from "../../testing/fixtures/client.ts";
import {
  type ApiRequest,
  callApi,
  makeSystemAccount,
  type TestAccount,
} from "../../testing/fixtures/system-account.ts";
import {
  makeClient,
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

const claims = [
  { name: "cost_centre", source: "membership", path: "attributes.costCentre" },
  { name: "tenant", source: "static", value: { plan: "gold", seats: [1, null] } },
  { name: "contact", source: "user", path: "email" },
];

describe("management API: custom scopes", () => {
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
      callApi(`${running.baseUrl}/legacy/api/oauth/scopes${path}`, admin, { strictAt: Date.now(), ...asked });
    const create = async (body: object) => {
      const answer = await call("", { body });
      assert.equal(answer.status, 201, answer.text);
      return { id: String(answer.body["id"]), ...answer };
    };
    const put = (id: string, body: unknown, headers: Record<string, string> = {}) =>
      call(`/${id}`, { method: "PUT", body, headers });
    const paths = (body: Record<string, unknown>) =>
      (body["errors"] as { path: string }[]).map(({ path }) => path).sort();

    test("a scope has the contract's members, and can be sent back as read", async () => {
      const { id, body, headers } = await create({
        name: "payroll",
        description: "Pay",
        claims,
        sensitive: true,
      });
      assert.deepEqual(Object.keys(body), [
        "id",
        "name",
        "displayName",
        "description",
        "claims",
        "sensitive",
        "createdAt",
      ]);
      assert.deepEqual([body["displayName"], body["claims"]], ["payroll", claims]);
      assert.equal(headers.get("location"), `${running.baseUrl}/legacy/api/oauth/scopes/${id}`);
      const read = await call(`/${id}`);
      assert.deepEqual(read.body, body);
      const back = await put(id, read.body, { "if-match": read.headers.get("etag") ?? "" });
      assert.deepEqual([back.status, back.body], [200, body]);
      const changed = await put(id, { ...read.body, displayName: " Pay ", claims: null });
      assert.deepEqual(changed.body, { ...body, displayName: "Pay", claims: [] });
      const bare = await put(id, {});
      assert.deepEqual(
        [bare.body["displayName"], bare.body["description"], bare.body["sensitive"]],
        ["payroll", "", false],
      );
    });

    test("a static claim is in the tokens of granted users until the scope is deleted", async () => {
      const { id } = await create({
        name: "plan",
        claims: [{ name: "plan", source: "static", value: "gold" }],
      });
      const client = await makeClient(running.service, org.organisation, {
        grantTypes: ["client_credentials"],
        allowedScopes: ["plan"],
      });
      const claim = async () => {
        const form = { client_id: client.application.id, client_secret: client.secret };
        const { body } = await postForm(`${org.issuer}/token`, { grant_type: "client_credentials", ...form });
        const [, payload = ""] = String(body["access_token"]).split(".");
        return (JSON.parse(Buffer.from(payload, "base64url").toString()) as Record<string, unknown>)["plan"];
      };
      assert.equal(await claim(), "gold");
      assert.equal((await call(`/${id}`, { method: "DELETE" })).status, 204);
      assert.equal(await claim(), undefined);
      assert.equal((await call(`/${id}`)).status, 404);
      assert.equal((await call(`/${id}`, { method: "DELETE" })).status, 404);
      assert.equal((await put(id, {})).status, 404);
    });

    test("rejects reserved claims, standard scopes and incomplete claims with their paths", async () => {
      for (const name of [
        "iss",
        "sub",
        "aud",
        "exp",
        "iat",
        "nbf",
        "jti",
        "client_id",
        "scope",
        "azp",
        "auth_time",
      ]) {
        const { status, body } = await call("", {
          body: { name: "evil", claims: [claims[0], { name, source: "static", value: 1 }] },
        });
        assert.deepEqual([status, paths(body)], [422, ["/claims/1/name"]], name);
      }
      for (const [body, wanted] of [
        [{ name: "openid" }, ["/name"]],
        [{ name: "address" }, ["/name"]],
        [{ name: "two words" }, ["/name"]],
        [{ name: "x", displayName: "" }, ["/displayName"]],
        [{ name: "x", claims: [{ name: "a", source: "static" }] }, ["/claims/0/value"]],
        [{ name: "x", claims: [{ name: "a", source: "user" }] }, ["/claims/0/path"]],
        [{ name: "x", claims: [{ name: "a", source: "user", path: "password" }] }, ["/claims/0/path"]],
        [
          { name: "x", claims: [{ name: "a", source: "user", path: "email", value: 1 }] },
          ["/claims/0/value"],
        ],
        [{ name: "x", claims: [{ name: "a", source: "other", path: "email" }] }, ["/claims/0/source"]],
        [{ name: "x", claims: [{ name: "a", source: "user", path: "email", x: 1 }] }, ["/claims/0/x"]],
        [{ name: "x", id: "y", orgId: "z", createdAt: "now" }, ["/createdAt", "/id", "/orgId"]],
      ] as const) {
        const refused = await call("", { body });
        assert.deepEqual([refused.status, paths(refused.body)], [422, wanted], JSON.stringify(body));
      }
    });

    test("a name is unique in an organisation and can't be changed", async () => {
      const { id } = await create({ name: "taken" });
      const again = await call("", { body: { name: "taken" } });
      assert.deepEqual([again.status, again.body["type"]], [409, "urn:signet:error:conflict"]);
      const at = await Promise.all(Array.from({ length: 6 }, () => call("", { body: { name: "raced" } })));
      assert.deepEqual(at.map(({ status }) => status).sort(), [201, 409, 409, 409, 409, 409]);
      const renamed = await put(id, { name: "other" });
      assert.deepEqual([renamed.status, paths(renamed.body)], [422, ["/name"]]);
      const foreign = await makeOrganisation(running.service, "Other");
      const theirs = await makeSystemAccount(running.service, foreign, { administrator: true });
      const url = `${running.baseUrl}/legacy/api/oauth/scopes`;
      assert.equal((await callApi(url, theirs, { body: { name: "taken" } })).status, 201);
    });

    test("rejects a stale change", async () => {
      const { id, headers } = await create({ name: "versioned" });
      const etag = headers.get("etag") ?? "";
      const race = await Promise.all(
        Array.from({ length: 6 }, (_, n) => put(id, { displayName: `N${n}` }, { "if-match": etag })),
      );
      assert.deepEqual(race.map(({ status }) => status).sort(), [200, 412, 412, 412, 412, 412]);
      assert.equal((await call(`/${id}`, { method: "DELETE", headers: { "if-match": etag } })).status, 412);
      const now = (await call(`/${id}`)).headers.get("etag") ?? "";
      assert.equal((await call(`/${id}`, { method: "DELETE", headers: { "if-match": now } })).status, 204);
    });

    test("pages in the order of creation", async () => {
      const other = await makeOrganisation(running.service, "Paged");
      const account = await makeSystemAccount(running.service, other, { administrator: true });
      const url = `${running.baseUrl}/legacy/api/oauth/scopes`;
      const names = ["d", "a", "c", "b", "e"];
      for (const name of names) await callApi(url, account, { body: { name } });
      const seen: unknown[] = [];
      let cursor: string | null = "";
      while (cursor !== null) {
        const { body } = await callApi(`${url}?limit=2${cursor && `&cursor=${cursor}`}`, account);
        seen.push(...(body["items"] as { name: string }[]).map(({ name }) => name));
        cursor = body["nextCursor"] as string | null;
      }
      assert.deepEqual(seen, names);
    });
  });
});
