/** Secrets by API: shown once, several at a time, replaced without a request that fails. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { createClientSecret } from "../../../core/applications/client-secrets.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { eventually } from "../../../testing/eventually.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { postForm } from "../../../testing/fixtures/client.ts";
import { callApi, makeSystemAccount, type TestAccount } from "../../../testing/fixtures/system-account.ts";
import { dumpTable } from "../../../testing/probes/dump-database.ts";
import {
  makeClient,
  makeOrganisation,
  startTestService,
  TEST_MASTER_KEY,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

describe("management API: client secrets", () => {
  forEachDatabase(({ name, fresh }) => {
    let clock: FakeClock;
    let running: TestService;
    let databaseUrl: string;
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

    const client = () =>
      makeClient(running.service, org.organisation, {
        grantTypes: ["client_credentials"],
        allowedScopes: ["jobs:run"],
      });
    const url = ({ application }: TestClient, path = "") =>
      `${running.baseUrl}/legacy/api/oauth/clients/${application.id}${path}`;
    const rotate = async (of: TestClient, body: object = {}) => {
      const answer = await callApi(url(of, "/rotate-secret"), admin, { body, strictAt: clock() });
      assert.equal(answer.status, 201, answer.text);
      return { ...answer, secret: String(answer.body["clientSecret"]), id: String(answer.body["id"]) };
    };
    const revokeOld = (of: TestClient, body?: object) =>
      callApi(url(of, "/revoke-old-secret"), admin, {
        ...{ method: "POST", strictAt: clock(), ...(body ? { body } : {}) },
      });
    const token = async ({ application }: TestClient, secret: string, issuer = org.issuer) => {
      const form = { grant_type: "client_credentials", client_id: application.id, client_secret: secret };
      return (await postForm(`${issuer}/token`, form)).status;
    };
    const secretsOf = async (of: TestClient) =>
      (await callApi(url(of), admin)).body["secrets"] as Record<string, unknown>[];

    test("shows a new secret once; old ones work until revoked", async () => {
      const one = await client();
      const made = await rotate(one, { label: "autumn" });
      assert.deepEqual(Object.keys(made.body).sort(), [
        "clientId",
        "clientSecret",
        "createdAt",
        "expiresAt",
        "hint",
        "id",
        "label",
        "lastUsedAt",
        "revokedAt",
      ]);
      assert.deepEqual([made.body["label"], made.body["expiresAt"]], ["autumn", null]);
      assert.equal(made.headers.get("location"), url(one));
      assert.deepEqual([await token(one, one.secret), await token(one, made.secret)], [200, 200]);
      assert.ok(!(await callApi(url(one), admin)).text.includes(made.secret));
      assert.equal((await revokeOld(one)).status, 204);
      assert.deepEqual([await token(one, one.secret), await token(one, made.secret)], [401, 200]);
      assert.deepEqual(
        (await secretsOf(one)).map(({ label, revokedAt }) => [label, revokedAt !== null]),
        [
          ["test", true],
          ["autumn", false],
        ],
      );
      assert.equal((await revokeOld(one)).status, 204, "nothing is left to revoke, and nothing is");
      assert.equal(await token(one, made.secret), 200);
    });

    test("revokes one secret by id, and keeps the newest active one", async () => {
      const one = await client();
      clock.advance(1000);
      const second = await rotate(one);
      clock.advance(1000);
      const third = await rotate(one);
      assert.equal((await revokeOld(one, { secretId: third.id.toUpperCase() })).status, 204);
      assert.equal((await revokeOld(one, { secretId: third.id })).status, 204, "it is revoked already");
      assert.deepEqual([await token(one, third.secret), await token(one, second.secret)], [401, 200]);
      assert.equal((await revokeOld(one)).status, 204);
      assert.deepEqual([await token(one, one.secret), await token(one, second.secret)], [401, 200]);
      const other = await client();
      const [foreign] = await secretsOf(other);
      assert.equal((await revokeOld(one, { secretId: foreign?.["id"] })).status, 404);
      assert.equal(await token(other, other.secret), 200);
    });

    test("secrets expire at their own time, or at the one given to the others", async () => {
      const one = await client();
      const soon = new Date(clock() + 60_000).toISOString();
      const brief = await rotate(one, { expiresAt: soon });
      assert.equal(brief.body["expiresAt"], soon);
      const lasting = await rotate(one, { expireOthersInSeconds: 600 });
      assert.deepEqual(
        (await secretsOf(one)).map(({ expiresAt }) => expiresAt),
        [new Date(clock() + 600_000).toISOString(), soon, null],
      );
      clock.advance(61_000);
      assert.deepEqual([await token(one, brief.secret), await token(one, one.secret)], [401, 200]);
      clock.advance(540_000);
      assert.deepEqual([await token(one, one.secret), await token(one, lasting.secret)], [401, 200]);
      const past = await callApi(url(one, "/rotate-secret"), admin, {
        ...{ body: { expiresAt: soon }, strictAt: clock() },
      });
      assert.deepEqual(
        [past.status, (past.body["errors"] as { path: string }[])[0]?.path],
        [422, "/expiresAt"],
      );
    });

    test("a public client gets no secret", async () => {
      const { id } = org.native;
      const answer = await callApi(`${running.baseUrl}/legacy/api/oauth/clients/${id}/rotate-secret`, admin, {
        ...{ method: "POST", strictAt: clock() },
      });
      assert.deepEqual([answer.status, answer.body["type"]], [409, "urn:signet:error:public-client"]);
    });

    test("a new secret works on every node before the change is announced", async () => {
      const one = await client();
      assert.equal(await token(one, one.secret), 200, "the node knows the client");
      const unheard = {
        ...running.service,
        changes: { ...running.service.changes, publish: async () => {} },
      };
      const { plaintext } = await createClientSecret(unheard, {
        orgId: org.organisation.id,
        applicationId: one.application.id,
        label: "elsewhere",
        expiresAt: null,
        actor: "test",
      });
      assert.equal(await token(one, plaintext), 200);
      assert.equal(await token(one, `${plaintext.slice(0, -1)}~`), 401);
    });

    test("rotating under load loses no request on any node", async () => {
      const other =
        name === "postgres"
          ? await startTestService({
              databaseUrl,
              clock,
              masterKey: TEST_MASTER_KEY,
              baseUrl: running.baseUrl,
            })
          : undefined;
      const issuers = [running, other ?? running].map(
        ({ baseUrl }) => `${baseUrl}/oauth/${org.organisation.id}`,
      );
      try {
        const one = await client();
        // What the client's machines have at the moment: they take a new secret as soon as it is made.
        let deployed = [one.secret];
        let over = false;
        const answers: number[] = [];
        const inFlight: string[] = [];
        const workers = [0, 1, 2, 3].map(async (worker) => {
          for (let turn = worker; !over; turn++) {
            const secret = deployed[turn % deployed.length] ?? "";
            inFlight[worker] = secret;
            answers.push(await token(one, secret, issuers[worker % 2]));
            inFlight[worker] = "";
          }
        });
        for (let round = 0; round < 10; round++) {
          const { secret } = await rotate(one);
          deployed = [...deployed, secret];
          const enough = answers.length + 16;
          await eventually("the new secret is in use", () => answers.length >= enough);
          deployed = [secret];
          // What was sent with the old secret is answered before it is revoked.
          await eventually("the old secret is no longer in use", () =>
            inFlight.every((used) => used === "" || used === secret),
          );
          assert.equal((await revokeOld(one)).status, 204);
        }
        over = true;
        await Promise.all(workers);
        assert.ok(answers.length >= 160, `${answers.length} requests`);
        assert.deepEqual([...new Set(answers)], [200], "none was lost");
        assert.equal((await secretsOf(one)).filter(({ revokedAt }) => revokedAt === null).length, 1);
        assert.equal(await token(one, one.secret), 401);
      } finally {
        await other?.close();
      }
    });

    test("stores no plaintext", async () => {
      const one = await client();
      const headers = { "idempotency-key": "rotate-and-look" };
      const { body } = await callApi(url(one, "/rotate-secret"), admin, {
        ...{ body: {}, headers, strictAt: clock() },
      });
      const db = running.service.database.query;
      const tables = ["client_secret", "idempotency_key", "audit_event"];
      const kept = (await Promise.all(tables.map((table) => dumpTable(db, table)))).join();
      assert.ok(!kept.includes(String(body["clientSecret"])));
      assert.ok(kept.includes(String(body["id"])));
    });
  });
});
