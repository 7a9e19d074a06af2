/** System accounts by API: made, granted, given new keys, shut out; an organisation keeps somebody who can do so. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { listSystemAccounts } from "../../../core/system-accounts/system-accounts.store.ts";
import { changeSystemAccount, removeSystemAccount } from "../../../core/system-accounts/system-accounts.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { notificationsDelivered } from "../../../testing/fakes/change-notifications.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { quickPasswords } from "../../../testing/fakes/quick-passwords.ts";
import {
  type ApiAnswer,
  type ApiRequest,
  callApi,
  makeSystemAccount,
  type TestAccount,
} from "../../../testing/fixtures/system-account.ts";
import { dumpTable } from "../../../testing/probes/dump-database.ts";
import {
  makeClient,
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

describe("management API: system accounts", () => {
  forEachDatabase(({ fresh }) => {
    let clock: FakeClock;
    let running: TestService;
    let org: TestOrganisation;
    let admin: TestAccount;
    before(async () => {
      clock = fakeClock();
      running = await startTestService({ databaseUrl: await fresh(), clock, passwords: quickPasswords });
      org = await makeOrganisation(running.service);
      admin = await makeSystemAccount(running.service, org, { administrator: true });
    });
    after(async () => {
      await running.close();
      assert.deepEqual(running.errors, []);
    });

    const at = (path: string) => `${running.baseUrl}/legacy/api/oauth/system-accounts${path}`;
    const call = (path: string, asked: ApiRequest = {}, by = admin) =>
      callApi(at(path), by, { strictAt: clock(), ...asked });
    const put = (path: string, asked: ApiRequest = {}, by = admin) =>
      call(path, { ...asked, method: "PUT" }, by);
    const remove = (path: string, by = admin) => call(path, { method: "DELETE" }, by);
    const ofAnswer = ({ body }: ApiAnswer): TestAccount => ({
      id: String(body["id"]),
      publicKey: String(body["publicKey"]),
      secret: String(body["secretKey"]),
    });
    const create = async (more: object = {}, asked: ApiRequest = {}) => {
      const body = { name: "Import", applicationId: org.web.application.id, ...more };
      const answer = await call("", { body, ...asked });
      assert.equal(answer.status, 201, answer.text);
      return { ...answer, account: ofAnswer(answer) };
    };
    /** What a system account is for. */
    const used = async (account: TestAccount, more: object = {}, asked: ApiRequest = {}) => {
      const body = { email: org.user.email, ...more };
      return (await callApi(`${running.baseUrl}/legacy/api/users/get`, account, { body, ...asked })).status;
    };
    const refusal = ({ status, body }: ApiAnswer) => [status, String(body["type"]).split(":").at(-1)];
    const state = { name: "Import", requireStrictSignature: false, enabled: true };

    test("a new account has a working key pair, whose secret key is shown once", async () => {
      const headers = { "idempotency-key": "make-and-look" };
      const { account, ...made } = await create({ requireStrictSignature: true }, { headers });
      assert.equal(made.headers.get("location"), at(`/${account.id}`));
      const { publicKey, secretKey, ...record } = made.body;
      assert.deepEqual(record, {
        id: account.id,
        name: "Import",
        applicationId: org.web.application.id,
        administrator: false,
        requireStrictSignature: true,
        allowEndUserAddress: false,
        enabled: true,
        permissions: [],
        keys: [
          {
            publicKey,
            label: "first",
            createdAt: new Date(clock()).toISOString(),
            expiresAt: null,
            revokedAt: null,
            lastUsedAt: null,
          },
        ],
        createdAt: new Date(clock()).toISOString(),
        createdBy: `system-account:${admin.id}`,
        updatedAt: new Date(clock()).toISOString(),
        lastUsedAt: null,
      });
      const read = await call(`/${account.id}`);
      assert.deepEqual(read.body, record);
      assert.equal(read.headers.get("etag"), made.headers.get("etag"));
      assert.deepEqual([await used(account), await used(account, {}, { strictAt: clock() })], [401, 200]);
      assert.equal((await call("", {}, account)).status, 401, "it is no administrator's");

      const again = await create({ requireStrictSignature: true }, { headers });
      assert.deepEqual([again.body["secretKey"], again.body["id"]], [null, account.id]);
      const db = running.service.database.query;
      const tables = ["system_account_key", "idempotency_key", "audit_event"];
      const kept = (await Promise.all(tables.map((table) => dumpTable(db, table)))).join();
      assert.ok(kept.includes(account.publicKey) && !kept.includes(String(secretKey)));
    });

    test("the right to tell end users' addresses is given and taken, and stays where a change leaves it out", async () => {
      const { account } = await create({ allowEndUserAddress: true });
      const right = async () => (await call(`/${account.id}`)).body["allowEndUserAddress"];
      assert.equal(await right(), true);
      assert.equal((await put(`/${account.id}`, { body: state })).status, 200);
      assert.equal(await right(), true);
      assert.equal(
        (await put(`/${account.id}`, { body: { ...state, allowEndUserAddress: false } })).status,
        200,
      );
      assert.equal(await right(), false);
      const plain = await create();
      assert.equal(plain.body["allowEndUserAddress"], false);
      assert.equal(
        (await put(`/${account.id}`, { body: { ...state, allowEndUserAddress: "yes" } })).status,
        422,
      );
    });

    test("an administrator's account can create another one with the same rights", async () => {
      const { account } = await create({ administrator: true });
      assert.equal((await call(`/${admin.id}`, {}, account)).status, 200);
      assert.equal((await remove(`/${account.id}`)).status, 204);
      assert.equal((await call("", {}, account)).status, 401);
      assert.equal((await call(`/${account.id}`)).status, 404);
    });

    test("pages accounts with their permissions and keys", async () => {
      const two = [(await create()).account, (await create()).account];
      const { id } = (await makeClient(running.service, org.organisation, {})).application;
      await put(`/${two[1]?.id}/permissions/${id}`);
      const seen: Record<string, unknown>[] = [];
      for (let cursor: unknown = ""; cursor !== null; ) {
        const { body } = await call(`?limit=2${cursor === "" ? "" : `&cursor=${cursor}`}`);
        seen.push(...(body["items"] as Record<string, unknown>[]));
        cursor = body["nextCursor"];
      }
      assert.deepEqual(
        seen.map((one) => one["id"]),
        seen.map((one) => one["id"]).sort(),
      );
      const told = seen
        .slice(-2)
        .map(({ keys, permissions }) => [
          (keys as { publicKey: string }[]).map(({ publicKey }) => publicKey),
          permissions,
        ]);
      assert.deepEqual(told, [
        [[two[0]?.publicKey], []],
        [[two[1]?.publicKey], [id]],
      ]);
    });

    test("grants and withdraws other applications immediately; its own is implied", async () => {
      const { account } = await create();
      const { id } = (await makeClient(running.service, org.organisation, {})).application;
      const about = { ApplicationId: id };
      const path = `/${account.id}/permissions/${id}`;
      const before = await call(`/${account.id}`);
      assert.equal(await used(account, about), 401);
      assert.equal((await put(path)).status, 204);
      assert.equal((await put(path)).status, 204, "it has it already");
      const granted = await call(`/${account.id}`);
      assert.deepEqual(granted.body["permissions"], [id]);
      const headers = { "if-match": before.headers.get("etag") ?? "" };
      assert.equal((await call(path, { method: "DELETE", headers })).status, 412, "as it was before");
      assert.equal(await used(account, about), 200);
      assert.equal((await remove(path)).status, 204);
      assert.equal(await used(account, about), 401);
      assert.equal((await remove(path)).status, 404);
      const own = `/${account.id}/permissions/${org.web.application.id}`;
      assert.equal((await put(own)).status, 204);
      assert.deepEqual((await call(`/${account.id}`)).body["permissions"], []);
      assert.deepEqual(refusal(await remove(own)), [409, "implied-permission"]);
      const foreign = (await makeOrganisation(running.service, "Foreign")).web.application.id;
      assert.equal((await put(`/${account.id}/permissions/${foreign}`)).status, 404);
    });

    test("a record can be changed as read; omitted members have no defaults", async () => {
      const { account } = await create();
      const { body, headers } = await call(`/${account.id}`);
      const match = { "if-match": headers.get("etag") ?? "" };
      const off = await put(`/${account.id}`, {
        body: { ...body, name: "Renamed", enabled: false },
        headers: match,
      });
      assert.deepEqual([off.status, off.body["name"], off.body["enabled"]], [200, "Renamed", false]);
      assert.equal(await used(account), 401);
      assert.equal((await put(`/${account.id}`, { body, headers: match })).status, 412);
      const some = await put(`/${account.id}`, { body: { name: "Import" } });
      assert.deepEqual(
        [some.status, (some.body["errors"] as { path: string }[]).map(({ path }) => path).sort()],
        [422, ["/enabled", "/requireStrictSignature"]],
      );
      const on = await put(`/${account.id}`, { body: state });
      assert.equal(await used(account), 200);
      const same = await put(`/${account.id}`, { body: state });
      assert.equal(same.headers.get("etag"), on.headers.get("etag"), "nothing was to be changed");
    });

    test("rotates keys with an overlap, and revokes single ones", async () => {
      const { account } = await create();
      const path = `/${account.id}/keys`;
      const soon = new Date(clock() + 60_000).toISOString();
      const brief = await call(path, { body: { label: "brief", expiresAt: soon } });
      assert.deepEqual([brief.status, brief.body["label"], brief.body["expiresAt"]], [201, "brief", soon]);
      const renewed = await call(path, { body: { expireOthersInSeconds: 600 } });
      const [second, third] = [ofAnswer(brief), ofAnswer(renewed)];
      const working = async () => [await used(account), await used(second), await used(third)];
      assert.deepEqual(await working(), [200, 200, 200]);
      clock.advance(61_000);
      assert.deepEqual(await working(), [200, 401, 200]);
      clock.advance(540_000);
      assert.deepEqual(await working(), [401, 401, 200]);
      assert.equal((await remove(`${path}/${third.publicKey.toUpperCase()}`)).status, 204);
      assert.equal((await remove(`${path}/${third.publicKey}`)).status, 204, "it is revoked already");
      assert.deepEqual(await working(), [401, 401, 401]);
      assert.equal((await remove(`${path}/${admin.publicKey}`)).status, 404, "another account's");
      assert.equal((await call("", {}, admin)).status, 200);
    });

    test("a caller can't lock itself out by its account, key or client", async () => {
      const own = `/${admin.id}`;
      assert.deepEqual(refusal(await remove(own)), [409, "own-account"]);
      assert.deepEqual(refusal(await put(own, { body: { ...state, enabled: false } })), [409, "own-account"]);
      assert.deepEqual(refusal(await remove(`${own}/keys/${admin.publicKey}`)), [409, "own-key"]);
      const client = `${running.baseUrl}/legacy/api/oauth/clients/${org.web.application.id}`;
      const { body } = await callApi(client, admin);
      const disabled = await callApi(client, admin, { method: "PUT", body: { ...body, enabled: false } });
      assert.deepEqual(refusal(disabled), [409, "own-application"]);

      const renewed = await call(`${own}/keys`, { method: "POST" });
      assert.equal(renewed.status, 201);
      const now = { ...ofAnswer(renewed), id: admin.id };
      assert.equal((await remove(`${own}/keys/${admin.publicKey}`, now)).status, 204, "by its other key");
      assert.equal((await call("")).status, 401);
      admin = now;
      assert.equal((await put(own, { body: { ...state, name: "Test" } })).status, 200);
    });

    test("of two accounts that delete each other concurrently, one stays", async () => {
      for (let round = 0; round < 5; round++) {
        const [one, two] = [
          (await create({ administrator: true })).account,
          (await create({ administrator: true })).account,
        ];
        // Both are known here before either is gone.
        assert.deepEqual([await used(one), await used(two)], [200, 200]);
        const answers = await Promise.all([remove(`/${two.id}`, one), remove(`/${one.id}`, two)]);
        assert.deepEqual(answers.map(({ status }) => status).sort(), [204, 401]);
      }
    });

    test("an account disabled on another node can't create a successor", async () => {
      const { id: orgId } = org.organisation;
      const unheard = {
        ...running.service,
        changes: { ...running.service.changes, publish: async () => {} },
      };
      const shutOut = [
        (id: string) => removeSystemAccount(unheard, { orgId, id, actor: "test" }),
        (id: string) => changeSystemAccount(unheard, { orgId, id, disabled: true, actor: "test" }),
      ];
      for (const act of shutOut) {
        const { account } = await create({ administrator: true });
        const { account: other } = await create();
        assert.equal(await used(account), 200);
        await notificationsDelivered(running.service);
        assert.equal(await used(account), 200, "it is known here");
        await act(account.id);
        const body = { name: "Successor", applicationId: org.web.application.id, administrator: true };
        assert.equal((await call("", { body }, account)).status, 401);
        assert.equal((await call(`/${other.id}/keys`, { body: {} }, account)).status, 401);
      }
      const all = await listSystemAccounts(running.service.database.query, orgId, {
        limit: 200,
        after: undefined,
      });
      assert.deepEqual(
        all.filter(({ name }) => name === "Successor"),
        [],
      );
    });
  });
});
