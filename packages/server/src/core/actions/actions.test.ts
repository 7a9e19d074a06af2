import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { deleteExpired } from "../../db/delete-expired.ts";
import { migrate } from "../../db/migrate.ts";
import { type Database, openDatabase } from "../../db/open.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { fakeClock } from "../../testing/fakes/fake-clock.ts";
import { createEncryption } from "../encryption/encryption.ts";
import { keyRing } from "../encryption/key-ring.ts";
import { voidActions } from "./actions.store.ts";
import { createAction, findOpenAction, type NewAction, redeemAction } from "./actions.ts";

const HOUR = 3_600_000;

describe("user actions", () => {
  forEachDatabase(({ fresh }) => {
    const clock = fakeClock();
    const deps = { clock, encryption: createEncryption(keyRing(Buffer.alloc(32, 1))) };
    let database: Database;
    before(async () => {
      database = openDatabase(await fresh());
      await migrate(database);
    });
    after(() => database.close());

    let users = 0;
    const newUser = () => `user-${users++}`;
    const create = (more: Partial<NewAction> = {}) =>
      database.transaction((tx) =>
        createAction(tx, deps, {
          orgId: "org",
          userId: newUser(),
          type: "ResetPassword",
          data: { email: "uma@acme.example" },
          ...more,
        }),
      );
    const named = (id: string, more: { orgId?: string; type?: "VerifyEmail" } = {}) =>
      ({ orgId: "org", type: "ResetPassword", id, ...more }) as const;
    const look = (id: string) => findOpenAction(database.query, deps, named(id));
    const use = (id: string) => database.transaction((tx) => redeemAction(tx, deps, named(id)));
    const rows = () => database.query.selectFrom("user_action").selectAll().execute();

    test("reading a link doesn't redeem it", async () => {
      const userId = newUser();
      const { id } = await create({ userId, data: { email: "uma@acme.example", flow: "sealed" } });
      for (let time = 0; time < 3; time += 1) {
        const action = await look(id);
        assert.equal(action?.userId, userId);
        assert.deepEqual(action.data, { email: "uma@acme.example", flow: "sealed" });
      }
      assert.ok(await use(id));
    });

    test("redeems a link once, also under concurrency", async () => {
      const { id } = await create();
      const uses = await Promise.all(Array.from({ length: 8 }, () => use(id)));
      assert.equal(uses.filter((action) => action !== undefined).length, 1);
      assert.equal(await use(id), undefined);
      assert.equal(await look(id), undefined);
    });

    test("a failing action doesn't redeem its link", async () => {
      const { id } = await create();
      const act = database.transaction(async (tx) => {
        assert.ok(await redeemAction(tx, deps, named(id)));
        throw new Error("the act failed");
      });
      await assert.rejects(act, /the act failed/);
      assert.ok(await use(id));
    });

    test("password links expire after an hour, email links after a day", async () => {
      const reset = await create();
      const verify = await create({ type: "VerifyEmail" });
      assert.equal(reset.expiresAt, clock() + HOUR);
      assert.equal(verify.expiresAt, clock() + 24 * HOUR);
      clock.advance(HOUR - 1);
      assert.ok(await look(reset.id));
      clock.advance(1);
      assert.equal(await look(reset.id), undefined);
      assert.equal(await use(reset.id), undefined);
      const later = named(verify.id, { type: "VerifyEmail" });
      assert.ok(await findOpenAction(database.query, deps, later));
    });

    test("a link is valid for its organisation and type only", async () => {
      const { id } = await create();
      for (const other of [named(id, { orgId: "other" }), named(id, { type: "VerifyEmail" })]) {
        assert.equal(await findOpenAction(database.query, deps, other), undefined);
        assert.equal(await redeemAction(database.query, deps, other), undefined);
      }
      assert.ok(await look(id));
    });

    test("a new link voids the previous one, also under concurrency", async () => {
      const userId = newUser();
      const first = await create({ userId });
      const verify = await create({ userId, type: "VerifyEmail" });
      const asked = await Promise.all(Array.from({ length: 6 }, () => create({ userId })));
      const open = await Promise.all([first, ...asked].map(({ id }) => look(id)));
      assert.equal(open.filter((action) => action !== undefined).length, 1);
      assert.equal(open[0], undefined);
      const other = named(verify.id, { type: "VerifyEmail" });
      assert.ok(await findOpenAction(database.query, deps, other), "the other kind stays");
    });

    test("a redeemed link doesn't block the next one", async () => {
      const userId = newUser();
      const first = await create({ userId });
      assert.ok(await use(first.id));
      const second = await create({ userId });
      assert.ok(await use(second.id));
    });

    test("voids all links of a user", async () => {
      const userId = newUser();
      const { id } = await create({ userId });
      const other = await create();
      await voidActions(database.query, { orgId: "org", userId, type: "ResetPassword", now: clock() });
      assert.equal(await use(id), undefined);
      assert.ok(await use(other.id));
    });

    test("a decoy can't be redeemed", async () => {
      const { id } = await create({ userId: "", isDecoy: true });
      const again = await create({ userId: "", isDecoy: true });
      assert.equal(await look(id), undefined);
      assert.equal(await use(id), undefined);
      assert.equal(await use(again.id), undefined);
    });

    test("the database contains neither a link's id nor its data in clear", async () => {
      const { id } = await create();
      assert.match(id, /^sgn_ua_[A-Za-z0-9_-]{43}$/);
      const stored = JSON.stringify(await rows());
      assert.ok(!stored.includes(id) && !stored.includes("uma@acme.example"));
    });

    test("deletes expired links and keeps open ones", async () => {
      clock.advance(48 * HOUR);
      const { id } = await create();
      await deleteExpired(database.query, "user_action", clock(), 1_000);
      assert.equal((await rows()).length, 1);
      assert.ok(await look(id));
    });
  });
});
