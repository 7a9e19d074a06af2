import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openChangeFeed } from "../../db/change-feed.ts";
import { deleteExpired } from "../../db/delete-expired.ts";
import { migrate } from "../../db/migrate.ts";
import { type Database, openDatabase } from "../../db/open.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { createOrganisation } from "../organisations/organisations.ts";
import { insertAgent } from "../signing-pools/signing-agent.store.ts";
import { insertPool } from "../signing-pools/signing-pool.store.ts";
import {
  type ActivityRow,
  addActivity,
  busiestApplications,
  readActivity,
  recordPeaks,
  sumActivity,
} from "./activity.store.ts";
import { createActivity } from "./activity.ts";
import { DAY_MS, HOUR_MS, ofApplication, ofPool, peakOfPool } from "./kinds.ts";

const DAY = Date.UTC(2026, 4, 4);

forEachDatabase(({ fresh }) => {
  let database: Database;
  let time = DAY;
  const clock = () => time;
  let orgId: string;
  let close: () => Promise<void>;
  before(async () => {
    database = openDatabase(await fresh(), 4);
    await migrate(database);
    const changes = await openChangeFeed(database);
    const made = { database, changes, clock };
    orgId = (await createOrganisation(made, database.query, { name: "Acme", actor: "test" })).id;
    close = async () => {
      await changes.close();
      await database.close();
    };
  });
  after(() => close());

  const node = () =>
    createActivity({
      clock,
      write: (rows) => addActivity(database.query, rows),
      onError: assert.ifError,
    });
  const tokensOf = async (from: number, to: number, by: "hour" | "day" = "hour") =>
    (await readActivity(database.query, orgId, { kinds: ["tokens"], from, to, by })).totals.tokens;

  test("counts of two nodes add up per hour, and idle hours are zero", async () => {
    const [one, other] = [node(), node()];
    for (let count = 0; count < 3; count++) one.count(orgId, "tokens");
    one.count(orgId, "sign-ins");
    one.count(orgId, ofPool("pool-signatures", "p1"));
    await one.flush();
    one.count(orgId, "tokens");
    other.count(orgId, "tokens");
    time = DAY + 2 * HOUR_MS + 1;
    one.count(orgId, "tokens");
    await Promise.all([one.close(), other.close()]);
    assert.deepEqual(await tokensOf(DAY, DAY + 4 * HOUR_MS), [5, 0, 1, 0]);
    const kinds = ["sign-ins", "failed-sign-ins", ofPool("pool-signatures", "p1")] as const;
    const read = await readActivity(database.query, orgId, {
      kinds,
      from: DAY,
      to: DAY + HOUR_MS,
      by: "hour",
    });
    assert.deepEqual(read, {
      times: [DAY],
      totals: { "sign-ins": [1], "failed-sign-ins": [0], "pool-signatures/p1": [1] },
    });
  });

  test("days sum their hours from midnight UTC, per organisation", async () => {
    time = DAY + DAY_MS + 5 * HOUR_MS;
    const counting = node();
    counting.count(orgId, "tokens");
    await counting.close();
    assert.deepEqual(await tokensOf(DAY + HOUR_MS, DAY + 3 * DAY_MS, "day"), [6, 1, 0]);
    const of = { kinds: ["tokens"], from: DAY, to: DAY + DAY_MS, by: "day" } as const;
    assert.deepEqual((await readActivity(database.query, "another", of)).totals, { tokens: [0] });
  });

  test("a deleted organisation doesn't block the counts of others", async () => {
    time = DAY + 10 * DAY_MS;
    const counting = node();
    counting.count("gone", "tokens");
    counting.count(orgId, "tokens");
    await counting.close();
    assert.deepEqual(await tokensOf(DAY + 10 * DAY_MS, DAY + 11 * DAY_MS, "day"), [1]);
  });

  test("agents are counted by their peak per hour and day", async () => {
    const at = DAY + 20 * DAY_MS;
    const pool = { orgId, id: "p1", name: "P", issuerMode: "pool", algs: ["ES256"] } as const;
    const settings = { maxTokenLifetimeSeconds: 60, tokenWaitSeconds: 8, keyPublishDelaySeconds: 0 };
    const record = { createdAt: 0, createdBy: "test", updatedAt: 0, disabledAt: null, version: 1 };
    await insertPool(database.query, {
      ...pool,
      ...settings,
      ...record,
      maxPending: 5,
      trustedRoots: [],
      requireX5c: false,
      threshold: null,
      approvals: 1,
    });
    const agent = (id: string, lastSeenAt: number, deactivatedAt: number | null) =>
      insertAgent(
        database.query,
        {
          ...{ orgId, id, poolId: "p1", name: id, createdAt: 0, createdBy: "test" },
          ...{ lastSeenAt, deactivatedAt, compromisedAt: null },
        },
        id,
      );
    for (const id of ["a1", "a2"]) await agent(id, at, null);
    await agent("ended", at, at);
    await agent("away", at - HOUR_MS, null);
    await recordPeaks(database.query, { now: at + 1, since: at - 1 });
    // Fewer by now, and none in the next hour.
    await recordPeaks(database.query, { now: at + 2, since: at - 2 * HOUR_MS });
    await recordPeaks(database.query, { now: at + 3, since: at - 1 });
    await recordPeaks(database.query, { now: at + HOUR_MS, since: at - 1 });
    const read = async (by: "hour" | "day") =>
      (
        await readActivity(database.query, orgId, {
          kinds: ["agents"],
          from: at,
          to: at + 2 * HOUR_MS,
          by,
        })
      ).totals.agents;
    assert.deepEqual(await read("hour"), [3, 2]);
    assert.deepEqual(await read("day"), [3]);
    const ofPools = { kinds: [peakOfPool("pool-agents", "p1")], from: at, to: at + 2 * HOUR_MS } as const;
    const peaks = async (by: "hour" | "day") =>
      (await readActivity(database.query, orgId, { ...ofPools, by })).totals["pool-agents/p1"];
    assert.deepEqual(await peaks("hour"), [3, 2]);
    assert.deepEqual(await peaks("day"), [3], "of a day the largest, not the sum");
  });

  test("sums kinds, and finds the busiest applications, of one organisation and time", async () => {
    const at = DAY + 40 * DAY_MS;
    const other = await createOrganisation({ clock }, database.query, { name: "Other", actor: "test" });
    const tokens = (app: string, hour: number, total: number, org = orgId) => ({
      ...{ orgId: org, kind: ofApplication(app), hour, total },
    });
    await addActivity(database.query, [
      tokens("a", at, 5),
      tokens("a", at + HOUR_MS, 4),
      tokens("b", at, 12),
      tokens("c", at, 9),
      tokens("d", at, 1),
      tokens("a", at - HOUR_MS, 100),
      tokens("b", at + 2 * HOUR_MS, 100),
      tokens("e", at, 100, other.id),
      { orgId, kind: "tokens", hour: at, total: 27 },
    ]);
    const range = { from: at, to: at + 2 * HOUR_MS };
    assert.deepEqual(await busiestApplications(database.query, orgId, { ...range, limit: 3 }), [
      { applicationId: "b", tokens: 12 },
      { applicationId: "a", tokens: 9 },
      { applicationId: "c", tokens: 9 },
    ]);
    const kinds = ["tokens", "sign-ins", ofApplication("a")] as const;
    assert.deepEqual(await sumActivity(database.query, orgId, { ...range, kinds }), {
      ...{ tokens: 27, "sign-ins": 0, "tokens/a": 9 },
    });
  });

  test("deletes old counts in batches, and nothing else", async () => {
    const before = DAY + 15 * DAY_MS;
    assert.equal(await deleteExpired(database.query, "activity", before, 2), 2);
    let removed = 2;
    for (let batch = 2; batch === 2; removed += batch)
      batch = await deleteExpired(database.query, "activity", before, 2);
    assert.ok(removed > 4);
    assert.deepEqual(await tokensOf(DAY, DAY + 15 * DAY_MS, "day"), Array(15).fill(0));
    const agents = { kinds: ["agents"], from: DAY, to: DAY + 30 * DAY_MS, by: "day" } as const;
    assert.ok((await readActivity(database.query, orgId, agents)).totals.agents.includes(3));
  });
});

test("retries failed writes, in their hour and once", async () => {
  let time = DAY;
  const clock = () => time;
  const { write, written, state } = recording();
  const activity = createActivity({ write, clock, onError: () => {} });
  activity.count("o", "tokens");
  state.fails = true;
  await assert.rejects(activity.flush());
  activity.count("o", "tokens");
  time = DAY + HOUR_MS;
  activity.count("o", "tokens");
  await assert.rejects(activity.flush());
  state.fails = false;
  await activity.flush();
  await activity.close();
  assert.deepEqual(written, [
    ["o", "tokens", DAY, 2],
    ["o", "tokens", DAY + HOUR_MS, 1],
  ]);
});

test("drops counts beyond the capacity", async () => {
  const { write, written } = recording();
  const activity = createActivity({ write, clock: () => DAY, capacity: 2, onError: () => {} });
  for (const org of ["a", "b", "c", "a", "c"]) activity.count(org, "tokens");
  await activity.flush();
  activity.count("c", "tokens");
  await activity.close();
  assert.deepEqual(written, [
    ["a", "tokens", DAY, 2],
    ["b", "tokens", DAY, 1],
    ["c", "tokens", DAY, 1],
  ]);
});

test("keeps counters of five hundred applications between two flushes, so that one organisation leaves room", async () => {
  const { write, written } = recording();
  const activity = createActivity({ write, clock: () => DAY, onError: () => {} });
  for (let app = 0; app < 600; app++) activity.count("a", ofApplication(`${app}`));
  activity.count("b", "tokens");
  await activity.close();
  assert.equal(written.length, 501);
});

function recording() {
  const written: unknown[][] = [];
  const state = { fails: false };
  const write = async (rows: readonly ActivityRow[]) => {
    if (state.fails) throw new Error("no database");
    written.push(...rows.map(({ orgId, kind, hour, total }) => [orgId, kind, hour, total]));
  };
  return { write, written, state };
}
