/** A POST that is named: done once, however often and from how many sides it is sent. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { sha256Base64url } from "@signet/protocol/hash";
import { removeExpired } from "../../core/housekeeping/housekeeping.ts";
import { findRequest, reserveRequest } from "../../core/idempotency/idempotency.store.ts";
import { IdempotencyConflict, runIdempotent } from "../../core/idempotency/idempotency.ts";
import { createCustomScope } from "../../core/scopes/custom-scopes.ts";
import { listCustomScopes } from "../../core/scopes/scopes.store.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../testing/fakes/fake-clock.ts";
import { callApi, makeSystemAccount, type TestAccount } from "../../testing/fixtures/system-account.ts";
import {
  makeOrganisation,
  startTestService,
  TEST_MASTER_KEY,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

const DAY = 86_400_000;

describe("Idempotency-Key", () => {
  forEachDatabase(({ name, fresh }) => {
    let clock: FakeClock;
    let databaseUrl: string;
    let running: TestService;
    let org: TestOrganisation;
    let admin: TestAccount;
    before(async () => {
      clock = fakeClock();
      databaseUrl = await fresh();
      running = await startTestService({ databaseUrl, clock });
      org = await makeOrganisation(running.service);
      admin = await makeSystemAccount(running.service, org, { administrator: true });
    });
    after(async () => {
      await running.close();
      assert.deepEqual(running.errors, []);
    });

    const post = (path: string, body: unknown, key?: string, by = admin, baseUrl = running.baseUrl) =>
      callApi(`${baseUrl}/legacy/api/oauth/${path}`, by, {
        method: "POST",
        strictAt: clock(),
        ...(body === undefined ? {} : { body }),
        headers: key === undefined ? {} : { "idempotency-key": key },
      });
    const named = async (wanted: string) => {
      const { body } = await callApi(`${running.baseUrl}/legacy/api/oauth/clients?limit=200`, admin);
      return (body["items"] as { name: string }[]).filter(({ name: one }) => one === wanted).length;
    };
    const keyOf = (key: string, by = admin) => ({
      orgId: org.organisation.id,
      accountId: by.id,
      keyHash: sha256Base64url(key),
    });

    test("replays the response, without the secret", async () => {
      const body = { name: "Once", clientType: "confidential" };
      const first = await post("clients", body, "k-1");
      assert.equal(first.status, 201);
      assert.match(String(first.body["clientSecret"]), /^sgn_cs_/);
      assert.equal(first.headers.get("idempotency-replayed"), null);
      const again = await post("clients", body, "k-1");
      assert.equal(again.status, 201);
      assert.deepEqual(again.body, { ...first.body, clientSecret: null });
      assert.equal(again.headers.get("idempotency-replayed"), "true");
      for (const header of ["location", "etag"])
        assert.equal(again.headers.get(header), first.headers.get(header));
      assert.equal(await named("Once"), 1);
      const other = await post("clients", body, "k-2");
      assert.notEqual(other.body["clientId"], first.body["clientId"]);
      assert.notEqual((await post("clients", body)).body["clientId"], first.body["clientId"]);
    });

    test("replays responses without a body and of a rotation", async () => {
      const { body } = await post("clients", { name: "Rotated", clientType: "confidential" });
      const path = `clients/${body["clientId"]}/rotate-secret`;
      const first = await post(path, { label: "b" }, "r-1");
      const again = await post(path, { label: "b" }, "r-1");
      assert.deepEqual(again.body, { ...first.body, clientSecret: null });
      const old = `clients/${body["clientId"]}/revoke-old-secret`;
      assert.equal((await post(old, undefined, "r-2")).status, 204);
      const repeated = await post(old, undefined, "r-2");
      assert.deepEqual([repeated.status, repeated.headers.get("idempotency-replayed")], [204, "true"]);
    });

    test("rejects another request under the same key, and keeps accounts apart", async () => {
      const scope = { name: "first-of-key", displayName: "First" };
      assert.equal((await post("scopes", scope, "k-3")).status, 201);
      for (const [path, body] of [
        ["scopes", { ...scope, name: "second" }],
        ["scopes?x=1", scope],
        ["clients", { name: "x", clientType: "spa" }],
      ] as const) {
        const refused = await post(path, body, "k-3");
        assert.deepEqual([refused.status, refused.body["type"]], [422, "urn:signet:error:key-reused"]);
      }
      const other = await makeSystemAccount(running.service, org, { administrator: true });
      assert.equal((await post("scopes", { ...scope, name: "theirs" }, "k-3", other)).status, 201);
    });

    test("stores no failed request: a retry can succeed", async () => {
      const { body } = await post("scopes", { name: "taken", displayName: "Taken" });
      const wanted = { name: "taken", displayName: "Again" };
      assert.equal((await post("scopes", wanted, "k-4")).status, 409);
      const url = `${running.baseUrl}/legacy/api/oauth/scopes/${body["id"]}`;
      assert.equal((await callApi(url, admin, { method: "DELETE", strictAt: clock() })).status, 204);
      assert.equal((await post("scopes", wanted, "k-4")).status, 201);
    });

    test("responds with 400 to a malformed key, and authenticates before it replays", async () => {
      const body = { name: "x", clientType: "spa" };
      for (const key of ["two words", "x".repeat(256)])
        assert.equal((await post("clients", body, key)).status, 400, key.slice(0, 20));
      assert.equal((await post("clients", body, "k-1", { ...admin, secret: "sgn_sa_x" })).status, 401);
      const plain = await makeSystemAccount(running.service, org);
      assert.equal((await post("clients", body, "k-1", plain)).status, 401);
    });

    test("performs one of thirty concurrent requests across nodes", async () => {
      const other =
        name === "postgres"
          ? await startTestService({ databaseUrl, clock, masterKey: TEST_MASTER_KEY })
          : undefined;
      try {
        const body = { name: "Raced", clientType: "confidential" };
        const nodes = [running.baseUrl, (other ?? running).baseUrl];
        const answers = await Promise.all(
          Array.from({ length: 30 }, (_, n) => post("clients", body, "race", admin, nodes[n % 2])),
        );
        const done = answers.filter(({ status }) => status === 201);
        assert.equal(done.filter(({ body: told }) => told["clientSecret"] !== null).length, 1);
        assert.equal(new Set(done.map(({ body: told }) => told["clientId"])).size, 1);
        for (const answer of answers.filter(({ status }) => status !== 201)) {
          assert.deepEqual([answer.status, answer.body["type"]], [409, "urn:signet:error:under-way"]);
          assert.equal(answer.headers.get("retry-after"), "1");
        }
        assert.equal(await named("Raced"), 1);
        assert.deepEqual(other?.errors ?? [], []);
      } finally {
        await other?.close();
      }
    });

    test("stores the response with the act or neither, and releases the key of a dead request", async () => {
      const { database } = running.service;
      const request = { ...keyOf("died"), requestHash: "h" };
      const orgId = org.organisation.id;
      const content = { displayName: "D", description: "", claims: [], sensitive: false };
      const made = { orgId, name: "of-the-dead", actor: "test", ...content };
      const keep = () => ({ status: 201, headers: {}, body: "{}" });
      const scopes = async () =>
        (await listCustomScopes(database.query, orgId)).filter((scope) => scope.name === made.name).length;
      const died = runIdempotent(
        running.service,
        request,
        async (within) => {
          await createCustomScope({ ...running.service, database: within }, made);
          throw new Error("killed");
        },
        keep,
      );
      await assert.rejects(died, /killed/);
      assert.equal(await scopes(), 0, "taken back with the transaction");

      // A process that was killed: its reservation stands.
      const now = clock();
      const reserved = { ...request, now, expiresAt: now + DAY, abandonedBefore: now - 60_000 };
      assert.ok(await reserveRequest(database.query, reserved));
      const act = (within: typeof database) =>
        createCustomScope({ ...running.service, database: within }, made);
      await assert.rejects(runIdempotent(running.service, request, act, keep), { code: "under-way" });
      clock.advance(60_000);
      await runIdempotent(running.service, request, act, keep);
      assert.equal(await scopes(), 1);
    });

    test("rolls back a request whose reservation was taken over", async () => {
      const request = { ...keyOf("slow"), requestHash: "h" };
      const orgId = org.organisation.id;
      const content = { displayName: "S", description: "", claims: [], sensitive: false };
      const keep = () => ({ status: 201, headers: {}, body: "{}" });
      const slow = { orgId, name: "of-the-slow", actor: "test", ...content };
      // While it acts, another one takes its place.
      const act = async (within: typeof running.service.database) => {
        const now = clock() + 60_000;
        const other = { ...request, now, expiresAt: now + DAY, abandonedBefore: now - 60_000 };
        const db = name === "postgres" ? running.service.database.query : within.query;
        assert.ok(await reserveRequest(db, other));
        return createCustomScope({ ...running.service, database: within }, slow);
      };
      await assert.rejects(runIdempotent(running.service, request, act, keep), IdempotencyConflict);
      const all = await listCustomScopes(running.service.database.query, orgId);
      assert.ok(!all.some((scope) => scope.name === slow.name));
    });

    test("releases the key after a day, and deletes the record", async () => {
      const body = { name: "Daily", clientType: "spa" };
      const first = await post("clients", body, "day");
      clock.advance(DAY - 1000);
      assert.equal((await post("clients", body, "day")).body["clientId"], first.body["clientId"]);
      clock.advance(1000);
      const second = await post("clients", body, "day");
      assert.notEqual(second.body["clientId"], first.body["clientId"]);
      clock.advance(DAY);
      await removeExpired(running.service);
      assert.equal(await findRequest(running.service.database.query, keyOf("day")), undefined);
    });
  });
});
