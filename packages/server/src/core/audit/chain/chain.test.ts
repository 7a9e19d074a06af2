import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { migrate } from "../../../db/migrate.ts";
import { type Database, openDatabase } from "../../../db/open.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { createOrganisation } from "../../organisations/organisations.ts";
import { listAuditEvents, recordAuditEvent } from "../audit.store.ts";
import { startAuditChain } from "./background.ts";
import { findHead } from "./chain.store.ts";
import { BrokenChain, chainBatch, chainOrganisation, chainRound } from "./chaining.ts";
import { type ChainHead, chainKey, headMac, linkHash } from "./link.ts";
import { type ChainFault, verifyChain } from "./verify.ts";

const MASTER_KEY = Buffer.alloc(32, 7);
const key = chainKey(MASTER_KEY);

forEachDatabase(({ name, fresh }) => {
  let database: Database;
  let second: Database;
  let clock: FakeClock;
  before(async () => {
    clock = fakeClock();
    const url = await fresh();
    database = openDatabase(url);
    await migrate(database);
    // SQLite's nodes are one: within a process its connections would wait for each other in vain.
    second = name === "sqlite" ? database : openDatabase(url);
  });
  after(async () => {
    if (second !== database) await second.close();
    await database.close();
  });

  const deps = () => ({ database, clock, key });
  const newOrganisation = async () =>
    (await createOrganisation({ clock }, database.query, { name: "Acme", actor: "operator" })).id;
  const act = (orgId: string, target: string, on = database) =>
    recordAuditEvent(on.query, {
      orgId,
      at: clock(),
      actor: "operator",
      action: "application.changed",
      target,
      address: "192.0.2.1",
      details: { changed: ["name"] },
    });
  /** With `count` events in all, chained. */
  const chained = async (count = 6) => {
    const orgId = await newOrganisation();
    for (let at = 2; at <= count; at++) await act(orgId, `record ${at}`);
    await chainOrganisation(deps(), orgId);
    return orgId;
  };
  const run = (text: string) => sql.raw(text).execute(database.query);
  const verify = (orgId: string, more: Parameters<typeof verifyChain>[3] = {}) =>
    verifyChain(database.query, orgId, key, { batch: 2, ...more });
  const faultOf = async (orgId: string, more = {}) => (await verify(orgId, more)).fault;
  const idAt = async (orgId: string, seq: number) =>
    (await listAuditEvents(database.query, orgId, 100)).find((event) => event.seq === seq)?.id ?? "";

  test("chains events oldest first, once, and verifies them", async () => {
    const orgId = await newOrganisation();
    for (const target of ["a", "b", "c"]) await act(orgId, target);
    assert.deepEqual(
      { ...(await verify(orgId)), headHash: "" },
      { events: 0, headSeq: 0, headHash: "", unchained: 4 },
    );
    assert.equal(await chainOrganisation(deps(), orgId), 4);
    assert.equal(await chainOrganisation(deps(), orgId), 0);
    const events = await listAuditEvents(database.query, orgId, 10);
    assert.deepEqual(
      events.map(({ target, seq }) => [target, seq]),
      [
        ["c", 4],
        ["b", 3],
        ["a", 2],
        [orgId, 1],
      ],
    );
    const verified = await verify(orgId);
    assert.equal(verified.fault, undefined);
    assert.deepEqual([verified.events, verified.headSeq, verified.unchained], [4, 4, 0]);
    assert.equal(verified.headHash, events[0]?.hash);
    await act(orgId, "d");
    assert.equal((await verify(orgId)).unchained, 1);
  });

  test("accepts a head signed before its time was covered until the chain moves on, and no foreign signature", async () => {
    const orgId = await chained();
    const head = await findHead(database.query, orgId);
    assert.ok(head);
    const signedBy = async (masterKey: Buffer) => {
      const text = JSON.stringify(["signet audit head v1", orgId, head.seq, head.hash]);
      const mac = createHmac("sha256", chainKey(masterKey)).update(text).digest("base64url");
      await run(`update audit_chain set mac = '${mac}' where org_id = '${orgId}'`);
    };
    await signedBy(Buffer.alloc(32, 8));
    assert.equal((await faultOf(orgId))?.kind, "head");
    await signedBy(MASTER_KEY);
    assert.equal(await faultOf(orgId), undefined);
    await act(orgId, "more");
    await chainOrganisation(deps(), orgId);
    const moved = await findHead(database.query, orgId);
    assert.ok(moved);
    assert.equal(moved.mac, headMac(key, moved));
  });

  const update =
    (set: string, seq = 3) =>
    (orgId: string) =>
      run(`update audit_event set ${set} where org_id = '${orgId}' and seq = ${seq}`);
  test("detects a removed address or target, and one moved into the next member", async () => {
    for (const set of ["address = null", "target = null", "target = address, address = target"]) {
      const orgId = await chained();
      await update(set)(orgId);
      assert.equal((await faultOf(orgId))?.kind, "changed", set);
    }
  });

  const faults: Record<string, [spoil: (orgId: string) => Promise<unknown>, expected: Partial<ChainFault>]> =
    {
      "a deleted event in the middle": [
        (orgId) => run(`delete from audit_event where org_id = '${orgId}' and seq = 3`),
        { seq: 3, kind: "missing" },
      ],
      "a deleted first event": [
        (orgId) => run(`delete from audit_event where org_id = '${orgId}' and seq = 1`),
        { seq: 1, kind: "missing" },
      ],
      "a deleted event whose successors moved up": [
        async (orgId) => {
          await run(`delete from audit_event where org_id = '${orgId}' and seq = 3`);
          for (const seq of [4, 5, 6]) await update(`seq = ${seq - 1}`, seq)(orgId);
        },
        { seq: 3, kind: "changed" },
      ],
      "a deleted tail": [
        (orgId) => run(`delete from audit_event where org_id = '${orgId}' and seq > 4`),
        { seq: 5, kind: "missing" },
      ],
      "everything deleted": [
        (orgId) => run(`delete from audit_event where org_id = '${orgId}'`),
        { seq: 1, kind: "missing" },
      ],
      "a deleted tail and the end with it": [
        async (orgId) => {
          await run(`delete from audit_event where org_id = '${orgId}' and seq > 4`);
          await run(`delete from audit_chain where org_id = '${orgId}'`);
        },
        { seq: 4, kind: "head" },
      ],
      "a deleted tail with an end of the database's own making": [
        async (orgId) => {
          await run(`delete from audit_event where org_id = '${orgId}' and seq > 4`);
          await run(`update audit_chain set seq = 4, hash = (select hash from audit_event where org_id = '${orgId}'
          and seq = 4) where org_id = '${orgId}'`);
        },
        { seq: 4, kind: "head" },
      ],
      "two events in each other's place": [
        async (orgId) => {
          await update("seq = 99", 3)(orgId);
          await update("seq = 3", 4)(orgId);
          await update("seq = 4", 99)(orgId);
        },
        { seq: 3, kind: "changed" },
      ],
      "an event put in between": [
        async (orgId) => {
          for (const seq of [6, 5, 4, 3]) await update(`seq = ${seq + 1}`, seq)(orgId);
          await run(`insert into audit_event (org_id, id, at, actor, action, details, seq, hash)
          values ('${orgId}', 'forged', 1, 'operator', 'user.created', '{}', 3, 'hash')`);
        },
        { seq: 3, id: "forged", kind: "changed" },
      ],
      "an event put before the first": [
        (orgId) =>
          run(`insert into audit_event (org_id, id, at, actor, action, details, seq, hash)
          values ('${orgId}', 'forged', 1, 'operator', 'user.created', '{}', 0, 'hash')`),
        { seq: 0, id: "forged", kind: "changed" },
      ],
      "an event put behind the end": [
        (orgId) =>
          run(`insert into audit_event (org_id, id, at, actor, action, details, seq, hash)
          select org_id, 'forged', 1, 'operator', 'user.created', '{}', 7, 'hash' from audit_event
          where org_id = '${orgId}' and seq = 6`),
        { seq: 7, id: "forged", kind: "changed" },
      ],
      "another end": [
        (orgId) => run(`update audit_chain set hash = 'x' where org_id = '${orgId}'`),
        { seq: 6, kind: "head" },
      ],
    };
  for (const [what, [spoil, expected]] of Object.entries(faults))
    test(`${what} is found`, async () => {
      const orgId = await chained();
      await spoil(orgId);
      const fault = await faultOf(orgId);
      assert.ok(fault);
      assert.deepEqual(
        { ...fault, ...("id" in expected ? {} : { id: undefined }) },
        { id: undefined, ...expected },
      );
    });

  test("detects a rewritten tail by the head, which can't be signed without the master key", async () => {
    const orgId = await chained();
    await update("actor = 'user:somebody'", 5)(orgId);
    const events = (await listAuditEvents(database.query, orgId, 100)).toReversed();
    let hash = events[3]?.hash ?? "";
    for (const event of events.slice(4)) {
      const { seq = 0, target = null, address = null, details } = event;
      hash = linkHash(hash, { ...event, seq, target, address, details: JSON.stringify(details) });
      await update(`hash = '${hash}'`, seq)(orgId);
    }
    assert.deepEqual(await faultOf(orgId), { seq: 6, kind: "head" });
    const forged = headMac(chainKey(Buffer.alloc(32, 8)), { orgId, seq: 6, hash, updatedAt: clock() });
    await run(`update audit_chain set hash = '${hash}', mac = '${forged}' where org_id = '${orgId}'`);
    assert.deepEqual(await faultOf(orgId), { seq: 6, kind: "head" });
  });

  test("detects rows and heads of another organisation", async () => {
    const [orgId, other] = [await chained(), await chained()];
    await run(`delete from audit_event where org_id = '${orgId}' and seq = 3`);
    await run(`update audit_event set org_id = '${orgId}' where org_id = '${other}' and seq = 3`);
    assert.deepEqual(await faultOf(orgId), { seq: 3, id: await idAt(orgId, 3), kind: "changed" });
    assert.deepEqual(await faultOf(other), { seq: 3, kind: "missing" });
    const [empty, full] = [await newOrganisation(), await chained()];
    await run(`delete from audit_chain where org_id = '${empty}'`);
    await run(`update audit_event set org_id = '${empty}' where org_id = '${full}'`);
    await run(`update audit_chain set org_id = '${empty}' where org_id = '${full}'`);
    assert.deepEqual((await faultOf(empty))?.seq, 1);
  });

  test("rejects signatures of another master key", async () => {
    const orgId = await chained();
    const other = chainKey(Buffer.alloc(32, 8));
    const { fault } = await verifyChain(database.query, orgId, other);
    assert.deepEqual(fault, { seq: 6, kind: "head" });
    await act(orgId, "later");
    await assert.rejects(chainBatch({ ...deps(), key: other }, orgId), BrokenChain);
    assert.equal((await verify(orgId)).unchained, 1, "it waits for the right one");
  });

  test("detects a restored older head by a recorded anchor, and by events beyond it", async () => {
    const orgId = await chained();
    const old = await findHead(database.query, orgId);
    await act(orgId, "later");
    await chainOrganisation(deps(), orgId);
    const noted = await findHead(database.query, orgId);
    assert.ok(old && noted);
    assert.equal(await faultOf(orgId, { expect: noted }), undefined);
    assert.equal(await faultOf(orgId, { expect: old }), undefined, "an older one too");
    const restore = `update audit_chain set seq = ${old.seq}, hash = '${old.hash}', mac = '${old.mac}'
      where org_id = '${orgId}'`;
    await run(restore);
    assert.deepEqual(await faultOf(orgId), { seq: 7, kind: "extra" });
    await act(orgId, "one more");
    await assert.rejects(chainBatch(deps(), orgId), "nothing is chained into a place that is taken");
    await run(`delete from audit_event where org_id = '${orgId}' and seq = 7`);
    await chainOrganisation(deps(), orgId);
    assert.equal(await faultOf(orgId), undefined, "the database alone does not show it");
    assert.equal((await faultOf(orgId, { expect: noted }))?.kind, "anchor");
    assert.deepEqual(await faultOf(orgId, { expect: { seq: 9, hash: "x" } }), { seq: 9, kind: "anchor" });
  });

  test("two nodes that chain concurrently with writers build one chain", async () => {
    const [orgId, other] = [await newOrganisation(), await newOrganisation()];
    const nodes = [deps(), { ...deps(), database: second }];
    const failures: string[] = [];
    const idle = { moved: () => {}, failed: (id: string) => failures.push(id) };
    const rounds = async (node: (typeof nodes)[number]) => {
      for (let round = 0; round < 6; round++) await chainRound({ ...node, ...idle, isStopped: () => false });
    };
    const writing = Array.from({ length: 60 }, (_, at) =>
      act(at % 3 === 0 ? other : orgId, `r${at}`, at % 2 === 0 ? database : second),
    );
    await Promise.all([...writing, ...nodes.map(rounds), ...nodes.map((node) => chainBatch(node, orgId, 7))]);
    assert.equal(failures.includes(orgId) || failures.includes(other), false);
    for (const [id, count] of [
      [orgId, 41],
      [other, 21],
    ] as const) {
      await chainOrganisation(deps(), id);
      const { events, fault, unchained } = await verify(id);
      assert.deepEqual({ events, fault, unchained }, { events: count, fault: undefined, unchained: 0 });
    }
  });

  test("an interrupted batch leaves nothing, and the next one continues", async () => {
    const orgId = await chained(3);
    for (let at = 4; at <= 9; at++) await act(orgId, `record ${at}`);
    await chainBatch(deps(), orgId, 2);
    const killed = {
      ...database,
      transaction: <T>(work: Parameters<typeof database.transaction<T>>[0]) =>
        database.transaction(async (tx) => {
          await work(tx);
          throw new Error("killed");
        }),
    } as Database;
    await assert.rejects(chainBatch({ ...deps(), database: killed }, orgId, 2), /killed/);
    const { events, unchained, fault } = await verify(orgId);
    assert.deepEqual({ events, unchained, fault }, { events: 5, unchained: 4, fault: undefined });
    await chainOrganisation(deps(), orgId);
    assert.deepEqual([(await verify(orgId)).events, await faultOf(orgId)], [9, undefined]);
  });

  test("chains a backlog in batches, in the order of ids whatever the clock says", async () => {
    const orgId = await newOrganisation();
    await run(
      name === "sqlite"
        ? `insert into audit_event (org_id, id, at, actor, action, details)
          with recursive n (n) as (select 1 union all select n + 1 from n where n < 1200)
          select '${orgId}', 'f' || (10000 + n), 5000 - n, 'system', 'mail.failed', '{}' from n`
        : `insert into audit_event (org_id, id, at, actor, action, details)
          select '${orgId}', 'f' || (10000 + n), 5000 - n, 'system', 'mail.failed', '{}' from generate_series(1, 1200) n`,
    );
    assert.equal(await chainOrganisation(deps(), orgId), 1201);
    assert.equal(await idAt(orgId, 1201), "f11200");
    const { events, fault } = await verifyChain(database.query, orgId, key);
    assert.deepEqual([events, fault], [1201, undefined]);
  });

  test("a broken chain doesn't stop other organisations, and is logged once", async (t) => {
    const [broken, good] = [await chained(2), await chained(2)];
    await run(`update audit_chain set mac = 'x' where org_id = '${broken}'`);
    t.mock.timers.enable({ apis: ["setInterval"] });
    const [errors, heads]: [unknown[], ChainHead[]] = [[], []];
    const stop = startAuditChain({
      database,
      clock,
      chainKey: key,
      noteHead: (head) => heads.push(head),
      onError: (error) => errors.push(error),
    });
    const waitFor = async (isThere: () => Promise<boolean> | boolean) => {
      for (let turn = 0; turn < 2_000 && !(await isThere()); turn++) {
        t.mock.timers.tick(1_000);
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    };
    await act(broken, "waits");
    await act(good, "first");
    await waitFor(() => heads.some(({ orgId, seq }) => orgId === good && seq === 3));
    await act(good, "second");
    await waitFor(async () => (await findHead(database.query, good))?.seq === 4);
    assert.deepEqual(
      heads.filter(({ orgId }) => orgId === good).map(({ seq }) => seq),
      [3],
      "once an hour",
    );
    await act(good, "third");
    await stop();
    assert.deepEqual(
      heads.filter(({ orgId }) => orgId === good).map(({ seq }) => seq),
      [3, 5],
      "and at the stop, with what happened last",
    );
    assert.deepEqual(
      [heads.at(-1)?.hash],
      [(await findHead(database.query, heads.at(-1)?.orgId ?? ""))?.hash],
    );
    assert.equal(
      heads.some(({ orgId }) => orgId === broken),
      false,
    );
    const told = errors.filter((error) => error instanceof BrokenChain && error.orgId === broken);
    assert.equal(told.length, 1);
  });

  test("deletes the chain with its organisation", async () => {
    const orgId = await chained(3);
    await run(`delete from organisation where id = '${orgId}'`);
    assert.equal(await findHead(database.query, orgId), undefined);
    const { events, headSeq, fault } = await verify(orgId);
    assert.deepEqual({ events, headSeq, fault }, { events: 0, headSeq: 0, fault: undefined });
  });
});
