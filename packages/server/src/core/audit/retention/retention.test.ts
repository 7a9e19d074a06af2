import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { sql } from "kysely";
import { type ChangeFeed, openChangeFeed } from "../../../db/change-feed.ts";
import { migrate } from "../../../db/migrate.ts";
import { type Database, openDatabase } from "../../../db/open.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { takeLease } from "../../housekeeping/housekeeping.store.ts";
import { changeOrganisationSettings, createOrganisation } from "../../organisations/organisations.ts";
import { listAuditEvents, recordAuditEvent } from "../audit.store.ts";
import { BrokenChain, chainOrganisation } from "../chain/chaining.ts";
import { findCheckpoint, putCheckpoint } from "../chain/checkpoint.store.ts";
import { chainKey, checkpointMac } from "../chain/link.ts";
import { type ChainFault, verifyChain } from "../chain/verify.ts";
import { STREAM_LEASE } from "../stream/stream.store.ts";
import { cutBatch } from "./cut-chain.ts";
import { auditRetention, cutAuditLogs, retentionStart } from "./retention.ts";

const key = chainKey(Buffer.alloc(32, 7));
const DAY = 86_400_000;

test("a month begins at the same day, or at the last one of a shorter month", () => {
  const start = (now: string, months: number) =>
    new Date(retentionStart(Date.parse(now), months)).toISOString().slice(0, 10);
  assert.equal(start("2026-11-27T20:00:00Z", 1), "2026-10-27");
  assert.equal(start("2026-03-31T23:59:59Z", 1), "2026-02-28");
  assert.equal(start("2028-03-30T00:00:00Z", 1), "2028-02-29");
  assert.equal(start("2026-01-15T00:00:00Z", 2), "2025-11-15");
  assert.equal(start("2026-05-31T12:00:00Z", 240), "2006-05-31");
});

describe("retention of the audit log", () => {
  forEachDatabase(({ fresh }) => {
    let database: Database;
    let changes: ChangeFeed;
    let clock: FakeClock;
    let errors: unknown[];
    before(async () => {
      database = openDatabase(await fresh());
      await migrate(database);
      changes = await openChangeFeed(database);
    });
    after(async () => {
      await changes.close();
      await database.close();
    });
    beforeEach(() => {
      clock = fakeClock();
      errors = [];
    });

    const deps = () => ({ database, clock, key, onError: (error: unknown) => void errors.push(error) });
    const act = (orgId: string, target: string) =>
      recordAuditEvent(database.query, {
        ...{ orgId, at: clock(), actor: "operator", action: "application.changed", target },
        ...{ applicationId: target, details: { changed: ["name"] } },
      });
    /** Ten events of its first day, a hundred days later five more; all chained. */
    const withLog = async (months: number) => {
      const actor = "operator";
      clock.advance(-100 * DAY);
      const { id } = await createOrganisation({ clock }, database.query, { name: "Acme", actor });
      if (months > 0)
        await changeOrganisationSettings(
          { database, clock, changes },
          { orgId: id, actor, settings: { auditRetentionMonths: months } },
        );
      const first = months > 0 ? 2 : 1;
      for (let at = first; at < 10; at++) await act(id, `old ${at}`);
      clock.advance(100 * DAY);
      for (let at = 0; at < 5; at++) await act(id, `young ${at}`);
      await chainOrganisation(deps(), id);
      return id;
    };
    const run = (text: string) => sql.raw(text).execute(database.query);
    const verify = (orgId: string, more: Parameters<typeof verifyChain>[3] = {}) =>
      verifyChain(database.query, orgId, key, { batch: 2, ...more });
    const kindOf = async (orgId: string, more = {}): Promise<ChainFault["kind"] | undefined> =>
      (await verify(orgId, more)).fault?.kind;
    const seqs = async (orgId: string) =>
      (await listAuditEvents(database.query, orgId, 100)).map(({ seq }) => seq).reverse();
    const hashAt = async (orgId: string, seq: number) =>
      (await listAuditEvents(database.query, orgId, 100)).find((event) => event.seq === seq)?.hash ?? "";
    const mentions = async (orgId: string) =>
      (await run(`select event_id from audit_mention where org_id = '${orgId}'`)).rows.length;

    test("what is older goes, with what is indexed of it; the rest is verified from the signed checkpoint on", async () => {
      const orgId = await withLog(3);
      const forEver = await withLog(0);
      const [anchor, young] = [await hashAt(orgId, 9), await hashAt(orgId, 12)];
      const before = await mentions(orgId);
      assert.equal(await cutAuditLogs(deps()), true);
      assert.deepEqual(await seqs(orgId), [11, 12, 13, 14, 15, undefined]);
      assert.equal(await mentions(orgId), before - 8);
      const cut = await findCheckpoint(database.query, orgId);
      assert.deepEqual([cut?.seq, cut?.events, cut?.cutAt], [10, 10, clock()]);
      const verified = await verify(orgId);
      assert.equal(verified.fault, undefined);
      assert.deepEqual([verified.events, verified.headSeq, verified.cut?.seq], [5, 15, 10]);
      const [told] = await listAuditEvents(database.query, orgId, 1);
      assert.deepEqual([told?.action, told?.actor, told?.details["months"]], ["audit-log.cut", "system", 3]);
      assert.equal(await kindOf(orgId, { expect: { seq: 9, hash: anchor } }), "cut");
      assert.equal(await kindOf(orgId, { expect: { seq: 12, hash: young } }), undefined);
      assert.equal(await kindOf(orgId, { expect: { seq: 12, hash: anchor } }), "anchor");
      assert.equal(await kindOf(orgId, { expect: { seq: 10, hash: cut?.hash ?? "" } }), undefined);
      assert.equal(await kindOf(orgId, { expect: { seq: 10, hash: young } }), "anchor");
      assert.equal((await seqs(forEver)).length, 15, "no setting: for ever");
      assert.equal(await findCheckpoint(database.query, forEver), undefined);
      assert.deepEqual(errors, []);
    });

    test("in batches, with one event; later cuts move the checkpoint, and a log may go to its end", async () => {
      const orgId = await withLog(3);
      const cut = { orgId, before: clock() - DAY, months: 3 };
      assert.equal(await cutBatch(deps(), { ...cut, isFirst: true }, 4), 4);
      assert.equal(await cutBatch(deps(), { ...cut, isFirst: false }, 4), 4);
      assert.equal((await findCheckpoint(database.query, orgId))?.seq, 8);
      assert.equal(await kindOf(orgId), undefined);
      await cutAuditLogs(deps());
      assert.equal((await findCheckpoint(database.query, orgId))?.seq, 10);
      clock.advance(200 * DAY);
      await cutAuditLogs(deps());
      assert.equal((await findCheckpoint(database.query, orgId))?.seq, 15);
      const told = (await listAuditEvents(database.query, orgId, 100)).map(({ action, seq }) => [
        action,
        seq,
      ]);
      assert.deepEqual(
        new Set(told.flat()),
        new Set(["audit-log.cut", undefined]),
        "unchained events are never cut",
      );
      assert.equal(await kindOf(orgId), undefined, "nothing but the checkpoint is left of the chain");
      await chainOrganisation(deps(), orgId);
      assert.equal(await kindOf(orgId), undefined);
    });

    test("a checkpoint that is forged, missing, of before, or of another organisation is a fault", async () => {
      const forgeries: ReadonlyArray<readonly [(orgId: string, other: string) => Promise<unknown>, string]> =
        [
          [(orgId) => run(`delete from audit_checkpoint where org_id = '${orgId}'`), "missing"],
          ...["seq = 9", "events = 1", "cut_at = 5", "until = 5", "hash = 'x'", "mac = 'x'"].map(
            (set) =>
              [
                (orgId: string) => run(`update audit_checkpoint set ${set} where org_id = '${orgId}'`),
                "checkpoint",
              ] as const,
          ),
          [
            (orgId, other) =>
              run(`update audit_checkpoint set mac = (select mac from audit_checkpoint where org_id = '${other}'),
              hash = (select hash from audit_checkpoint where org_id = '${other}') where org_id = '${orgId}'`),
            "checkpoint",
          ],
          // More is deleted than was cut.
          [(orgId) => run(`delete from audit_event where org_id = '${orgId}' and seq = 11`), "missing"],
          [
            (orgId) => run(`update audit_event set seq = 3 where org_id = '${orgId}' and seq = 11`),
            "changed",
          ],
        ];
      for (const [forge, kind] of forgeries) {
        const [orgId, other] = [await withLog(3), await withLog(3)];
        await cutAuditLogs(deps());
        assert.equal(await kindOf(orgId), undefined);
        await forge(orgId, other);
        assert.equal(await kindOf(orgId), kind, String(forge));
      }
      const orgId = await withLog(3);
      const cut = { orgId, before: clock() - DAY, months: 3, isFirst: true };
      await cutBatch(deps(), cut, 4);
      const old = await findCheckpoint(database.query, orgId);
      assert.ok(old);
      await cutAuditLogs(deps());
      await putCheckpoint(database.query, old);
      assert.equal(await kindOf(orgId), "missing", "an older checkpoint does not explain the newer cut");
      const foreign = { ...old, mac: checkpointMac(Buffer.alloc(32, 8), old) };
      await putCheckpoint(database.query, foreign);
      assert.equal(await kindOf(orgId), "checkpoint");
    });

    test("what was tampered with is not cut, and others are", async () => {
      const [orgId, other] = [await withLog(3), await withLog(3)];
      await run(`update audit_event set actor = 'nobody' where org_id = '${orgId}' and seq = 4`);
      await cutAuditLogs(deps());
      assert.ok(errors.some((error) => error instanceof BrokenChain && error.orgId === orgId));
      assert.equal((await seqs(orgId)).includes(1), true, "the evidence stays");
      assert.deepEqual(await kindOf(orgId), "changed");
      assert.equal((await findCheckpoint(database.query, other))?.seq, 10);
      const forged = await withLog(3);
      await run(`update audit_chain set mac = 'x' where org_id = '${forged}'`);
      const cut = { orgId: forged, before: clock(), months: 3, isFirst: true };
      await assert.rejects(cutBatch(deps(), cut), BrokenChain);
    });

    test("what the audit stream has not sent yet is not cut", async () => {
      const orgId = await withLog(3);
      await run(`update audit_chain set streamed_seq = 4 where org_id = '${orgId}'`);
      await cutAuditLogs({ ...deps(), isStreamed: true });
      assert.equal((await findCheckpoint(database.query, orgId))?.seq, 4);
      await cutAuditLogs(deps());
      assert.equal((await findCheckpoint(database.query, orgId))?.seq, 10);
    });

    test("nor is it by a node without the stream, while another has sent in the last month", async () => {
      const orgId = await withLog(3);
      await run(`update audit_chain set streamed_seq = 4 where org_id = '${orgId}'`);
      const sentAt = clock() - 29 * 86_400_000;
      const lease = { name: STREAM_LEASE, holder: "another", now: sentAt - 30_000, until: sentAt };
      assert.equal(await takeLease(database.query, lease), true);
      await cutAuditLogs(deps());
      assert.equal((await findCheckpoint(database.query, orgId))?.seq, 4);
      clock.advance(2 * 86_400_000);
      await cutAuditLogs(deps());
      assert.equal((await findCheckpoint(database.query, orgId))?.seq, 10);
      await run(`delete from background_lease where name = '${STREAM_LEASE}'`);
    });

    test("housekeeping looks once an hour, and goes on at once while something is left", async () => {
      await withLog(3);
      const look = auditRetention(deps());
      const two = [await withLog(3), await withLog(3)];
      assert.equal(await cutAuditLogs(deps(), 1), false, "its share of the round is used up");
      await look();
      for (const orgId of two) assert.equal((await findCheckpoint(database.query, orgId))?.seq, 10);
      const late = await withLog(3);
      await look();
      assert.equal(await findCheckpoint(database.query, late), undefined);
      clock.advance(3_600_000);
      await look();
      assert.equal((await findCheckpoint(database.query, late))?.seq, 10);
    });
  });
});
