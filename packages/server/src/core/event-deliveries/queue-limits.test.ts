// A target that takes nothing does not fill the database; a fault of one organisation's events stops no other's.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { forEachDatabase } from "../../testing/databases.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";
import { recordAuditEvent } from "../audit/audit.store.ts";
import { chainOrganisation } from "../audit/chain/chaining.ts";
import { insertDeliveries, listPending, MAX_WAITING } from "./deliveries.store.ts";
import { feedAll } from "./feed.ts";
import type { Message } from "./target-kind.ts";
import { claimTarget, extendQueue, insertTarget, renewClaim } from "./targets.store.ts";

const KIND = "test";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
  });
  after(() => running.close());
  beforeEach(async () => {
    org = await makeOrganisation(running.service);
  });

  const db = () => running.service.database.query;
  const target = ({ organisation }: TestOrganisation) => ({ orgId: organisation.id, id: organisation.id });
  const message = (id: string): Message => ({ id, type: KIND, at: 0, body: "{}" });
  const add = (to: TestOrganisation) =>
    insertTarget(db(), { ...target(to), kind: KIND, isFed: true, isSent: false });

  test("the oldest of a queue that is too long are given up", async () => {
    await add(org);
    const now = running.service.clock();
    const queue = async (count: number, messages: Message[]) => {
      const after = (await extendQueue(db(), target(org), { count, now })) ?? assert.fail();
      await insertDeliveries(db(), target(org), messages, { after, now });
    };
    const waiting = async () => (await listPending(db(), target(org), { limit: 10 })).map(({ id }) => id);
    await queue(2, [message("first"), message("second")]);
    await queue(MAX_WAITING - 2, [message("third")]);
    assert.deepEqual(await waiting(), ["first", "second", "third"]);
    await queue(1, [message("last")]);
    assert.deepEqual(await waiting(), ["second", "third", "last"]);
    const { state, settled_at } = await db()
      .selectFrom("event_delivery")
      .select(["state", "settled_at"])
      .where("org_id", "=", org.organisation.id)
      .where("id", "=", "first")
      .executeTakeFirstOrThrow();
    assert.deepEqual([state, Number(settled_at)], ["dead", now]);
  });

  test("one node sends from a queue, until its claim ends", async () => {
    await insertTarget(db(), { ...target(org), kind: KIND, isFed: true, isSent: true });
    await extendQueue(db(), target(org), { count: 1, now: 0 });
    const claim = (name: string, now: number) =>
      claimTarget(db(), target(org), { claim: name, now, until: now + 30 });
    assert.deepEqual([await claim("one", 100), await claim("two", 129)], [true, false]);
    assert.equal(await renewClaim(db(), target(org), { claim: "one", until: 140 }), 1);
    assert.deepEqual([await claim("two", 139), await claim("two", 140)], [false, true]);
    const late = { claim: "one", until: 200 };
    assert.equal(await renewClaim(db(), target(org), late), undefined, "the first has lost it");
    assert.equal(await renewClaim(db(), target(org), { ...late, claim: "two" }), 1);
  });

  test("events of one organisation that can't be read keep no other waiting", async () => {
    const other = await makeOrganisation(running.service, "Other");
    const [broken, fine] = [org, other].toSorted((a, b) => (a.organisation.id < b.organisation.id ? -1 : 1));
    if (!broken || !fine) return assert.fail();
    for (const one of [broken, fine]) {
      await add(one);
      const event = { orgId: one.organisation.id, at: 0, actor: "test", action: "user.disabled" } as const;
      await recordAuditEvent(db(), { ...event, target: one.user.id });
      await chainOrganisation({ ...running.service, key: running.service.chainKey }, one.organisation.id);
    }
    const errors: unknown[] = [];
    const kind = {
      select: async ({ orgId }: { orgId: string }) => {
        if (orgId === broken.organisation.id) throw new Error("unreadable");
        return [message("told")];
      },
      attempt: async () => ({ status: null }),
    };
    const onError = (error: unknown) => void errors.push(error);
    await feedAll({ ...running.service, kinds: { [KIND]: kind }, onError }, () => false);
    assert.deepEqual(errors.map(String), ["Error: unreadable"]);
    assert.equal((await listPending(db(), target(fine), { limit: 10 })).length, 1);
  });
});
