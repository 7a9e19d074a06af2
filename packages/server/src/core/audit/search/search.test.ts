import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { migrate } from "../../../db/migrate.ts";
import { readFrom } from "../../../db/old-reads.ts";
import { type Database, openDatabase } from "../../../db/open.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { createOrganisation } from "../../organisations/organisations.ts";
import { type AuditEvent, lastChange, lastChanges, recordAuditEvent } from "../audit.store.ts";
import { chainOrganisation } from "../chain/chaining.ts";
import { chainKey } from "../chain/link.ts";
import { exportAuditEvents } from "../export/export.ts";
import {
  type AuditFilter,
  countAuditEvents,
  listActivity,
  matchActions,
  searchAuditEvents,
  subjectFilters,
} from "./search.ts";

/** Before every other. */
const NO_ID = "00000000-0000-0000-0000-000000000000";

const [ADA, BOB] = ["user:ada", "user:bob"];

forEachDatabase(({ name, fresh }) => {
  let database: Database;
  let orgId: string;
  let otherId: string;
  let now = 1_000;
  const clock = () => now;
  const happened = (event: Partial<AuditEvent>) => {
    now += 10;
    const { action = "application.changed", actor = ADA } = event;
    return recordAuditEvent(database.query, { orgId, at: now, ...event, action, actor });
  };
  before(async () => {
    database = openDatabase(await fresh());
    await migrate(database);
    const make = () => createOrganisation({ clock }, database.query, { name: "Acme", actor: "operator" });
    orgId = (await make()).id;
    otherId = (await make()).id;
    await happened({ orgId: otherId, target: "shop", details: { name: "another organisation's" } });
    await happened({ target: "shop", address: "192.0.2.1", details: { changed: ["Name"] } });
    await happened({ target: "shop", actor: BOB, address: "192.0.2.2" });
    await happened({ action: "consent.granted", target: "shop", actor: BOB });
    await happened({ action: "sign-in.failed", actor: "anonymous", target: "ada", address: "192.0.2.9" });
    await happened({ action: "device.revoked", target: "till", actor: ADA });
    await happened({ action: "device.enrolled", target: "till", actor: "device:till" });
    await happened({ action: "user.disabled", target: "bob", actor: ADA });
  });
  after(() => database.close());

  /** From 1 to this. */
  const series = (most: number) =>
    name === "sqlite"
      ? `(with recursive n (n) as (select 1 union all select n + 1 from n where n < ${most}) select n from n) n`
      : `generate_series(1, ${most}) n`;
  const found = async (filter: AuditFilter, limit = 25) =>
    (await searchAuditEvents(database.query, orgId, filter, { limit })).events.map(
      ({ at, action }) => `${at} ${action}`,
    );

  test("lists events of the organisation, newest first", async () => {
    assert.deepEqual(await found({}), [
      "1080 user.disabled",
      "1070 device.enrolled",
      "1060 device.revoked",
      "1050 sign-in.failed",
      "1040 consent.granted",
      "1030 application.changed",
      "1020 application.changed",
      "1000 organisation.created",
    ]);
  });

  const searches: Array<[what: string, filter: AuditFilter, found: readonly number[]]> = [
    ["who", { actors: [BOB] }, [1040, 1030]],
    ["any of some", { actors: [BOB, "anonymous"] }, [1050, 1040, 1030]],
    ["what", { actions: ["application.changed"] }, [1030, 1020]],
    ["what, by the beginning of its name", { actions: matchActions("device.") }, [1070, 1060]],
    ["on what", { target: "shop" }, [1040, 1030, 1020]],
    ["from where", { address: "192.0.2.9" }, [1050]],
    ["when", { from: 1030, to: 1060 }, [1050, 1040, 1030]],
    ["a word in it, whatever its case", { text: "nAmE" }, [1020]],
    ["several at once", { actors: [ADA], target: "shop", from: 1000, text: "192.0.2.1" }, [1020]],
    [
      "who did something or had it done to them",
      { subjects: subjectFilters("user", "ada") },
      [1080, 1060, 1050, 1020],
    ],
    [
      "both, of whom both are",
      { subjects: subjectFilters("user", "ada"), actions: ["sign-in.failed"] },
      [1050],
    ],
    ["what there is not", { target: "nothing" }, []],
    ["an action that there is not", { actions: matchActions("nonsense") }, []],
    ["a time that runs backwards", { from: 1060, to: 1030 }, []],
  ];
  for (const [what, filter, expected] of searches)
    test(`a search finds ${what}, at once and page by page, and so does an export`, async () => {
      const { query } = database;
      assert.deepEqual(
        (await found(filter)).map((line) => Number(line.split(" ")[0])),
        expected,
      );
      const paged: number[] = [];
      for (let before: string | undefined, page = 0; page < 20; page++) {
        const { events, next } = await searchAuditEvents(query, orgId, filter, { before, limit: 2 });
        paged.push(...events.map(({ at }) => at));
        before = next;
        if (before === undefined) break;
      }
      assert.deepEqual(paged, expected);
      const back: number[] = [];
      for (let after: string | undefined = `0.${NO_ID}`, page = 0; after && page < 20; page++) {
        const { events, previous } = await searchAuditEvents(query, orgId, filter, { after, limit: 2 });
        back.unshift(...events.map(({ at }) => at));
        after = previous;
      }
      assert.deepEqual(back, expected, "from the oldest page to the newest");
      const counted = await countAuditEvents(query, orgId, filter, 100);
      assert.ok(counted === undefined || counted === expected.length, `${counted} are counted`);
      const exported: number[] = [];
      for await (const { at } of exportAuditEvents(readFrom(query), orgId, filter)) exported.push(at);
      assert.deepEqual(exported, expected.toReversed());
    });

  test("counts what an index decides, each event once and no further than asked", async () => {
    const count = (filter: AuditFilter, max = 100) => countAuditEvents(database.query, orgId, filter, max);
    assert.equal(await count({ subjects: subjectFilters("user", "ada") }), 4);
    const twice = [...subjectFilters("user", "ada"), ...subjectFilters("user", "ada")];
    assert.equal(await count({ subjects: twice }), 4);
    assert.equal(await count({ target: "shop" }), 3);
    assert.equal(await count({ target: "shop" }, 2), 2);
    assert.equal(await count({ from: 1030, to: 1060 }), 3);
    assert.equal(await count({ text: "name" }), undefined);
    assert.equal(await count({ actors: [ADA], target: "shop" }), undefined);
  });

  test("offers another page only when there is one", async () => {
    const page = (limit: number) => searchAuditEvents(database.query, orgId, { target: "shop" }, { limit });
    assert.equal((await page(3)).next, undefined);
    assert.notEqual((await page(2)).next, undefined);
    const nonsense = { before: "1040.x' or 1=1", limit: 3 };
    const again = await searchAuditEvents(database.query, orgId, { target: "shop" }, nonsense);
    assert.equal(again.events.length, 3, "a page that is none begins anew");
  });

  test("finds events with a user as actor or target", async () => {
    const { events } = await listActivity(database.query, orgId, { kind: "user", id: "bob" }, { limit: 10 });
    assert.deepEqual(
      events.map(({ action }) => action),
      ["user.disabled", "consent.granted", "application.changed"],
    );
  });

  test("occurrences don't count as the last change of a record", async () => {
    const { query } = database;
    assert.deepEqual(await lastChange(query, orgId, "shop"), { actor: BOB, at: 1030 });
    assert.equal(await lastChange(query, orgId, "ada"), undefined, "a failed sign-in changes nobody");
    const several = await lastChanges(query, orgId, ["shop", "till", "bob", "ada", "shop"]);
    assert.deepEqual(
      [...several].sort().map(([target, { actor, at }]) => [target, actor, at]),
      [
        ["bob", ADA, 1080],
        ["shop", BOB, 1030],
        ["till", "device:till", 1070],
      ],
    );
    assert.equal((await lastChanges(query, orgId, [])).size, 0);
  });

  test("a full export is in the order of the chain, with unchained events last", async () => {
    const deps = { database, clock, key: chainKey(Buffer.alloc(32, 1)) };
    await chainOrganisation(deps, orgId);
    now = 500;
    await happened({ action: "mail.failed", actor: "system" });
    await chainOrganisation(deps, orgId);
    await happened({ action: "mail.failed", actor: "system" });
    const seqs: Array<number | undefined> = [];
    for await (const { seq } of exportAuditEvents(readFrom(database.query), orgId, {})) seqs.push(seq);
    assert.deepEqual(seqs, [1, 2, 3, 4, 5, 6, 7, 8, 9, undefined]);
  });

  test("a search without an index scans a limited number of events per page", async () => {
    const { id } = await createOrganisation({ clock }, database.query, { name: "Big", actor: "operator" });
    await sql
      .raw(`insert into audit_event (org_id, id, at, actor, action, details)
        select '${id}', '01998d6e-0000-7000-8000-0000000' || (10000 + n), n, 'system', 'mail.failed',
          case n when 5 then '{"reason":"needle"}' else '{}' end from ${series(12_000)}`)
      .execute(database.query);
    const look = (before?: string) =>
      searchAuditEvents(database.query, id, { text: "needle" }, { before, limit: 25 });
    const first = await look();
    assert.deepEqual([first.events.length, first.searchedBackTo], [0, 2001]);
    const second = await look(first.next);
    assert.deepEqual(
      [second.events.map(({ at }) => at), second.next, second.searchedBackTo],
      [[5], undefined, undefined],
    );
  });

  test("exports every event once, however many are unchained or get chained meanwhile", async () => {
    const { id } = await createOrganisation({ clock }, database.query, { name: "Late", actor: "operator" });
    await sql
      .raw(`insert into audit_event (org_id, id, at, actor, action, details)
        select '${id}', '01998d6e-0000-7000-8000-0000000' || (10000 + n), n, 'system', 'mail.failed', '{}'
        from ${series(6_000)}`)
      .execute(database.query);
    const chained = () => chainOrganisation({ database, clock, key: chainKey(Buffer.alloc(32, 1)) }, id);
    for (const chainsMeanwhile of [false, true]) {
      const ids: string[] = [];
      const seqs: number[] = [];
      for await (const event of exportAuditEvents(readFrom(database.query), id, {})) {
        if (chainsMeanwhile && ids.length === 1_000) await chained();
        ids.push(event.id);
        if (event.seq !== undefined) seqs.push(event.seq);
      }
      assert.deepEqual([ids.length, new Set(ids).size, seqs.length], [6_001, 6_001, 0]);
    }
  });

  test("exports every event once, after whichever of its statements they get chained", async () => {
    let statements = Number.POSITIVE_INFINITY;
    for (let at = 1; at <= statements; at++) {
      const { id } = await createOrganisation({ clock }, database.query, {
        name: "Meanwhile",
        actor: "operator",
      });
      const options = { database, clock, key: chainKey(Buffer.alloc(32, 1)) };
      await chainOrganisation(options, id);
      for (let count = 0; count < 3; count++)
        await recordAuditEvent(database.query, {
          orgId: id,
          at: now,
          actor: "system",
          action: "mail.failed",
        });
      let count = 0;
      const watched = database.query.withPlugin({
        transformQuery: ({ node }) => node,
        transformResult: async ({ result }) => {
          if (++count === at) await chainOrganisation(options, id);
          return result;
        },
      });
      const ids: string[] = [];
      for await (const event of exportAuditEvents(readFrom(watched), id, {})) ids.push(event.id);
      assert.deepEqual([ids.length, new Set(ids).size], [4, 4], `after statement ${at}`);
      statements = count;
    }
    assert.ok(statements >= 3);
  });
});
