/** The end of an organisation: gone from outside at once, back for thirty days, then nothing of it is left, and all of the others. */
import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { deleteRowsOfOrganisation, tablesOfOrganisation } from "../../../db/rows-of-organisation.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { codeSource } from "../../../testing/fakes/code-source.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { credentials, postForm } from "../../../testing/fixtures/client.ts";
import { type SeededRecords, seedRecords } from "../../../testing/fixtures/planted-records.ts";
import { dumpWholeDatabase } from "../../../testing/probes/dump-database.ts";
import { startTestService, type TestService } from "../../../testing/test-service.ts";
import { listAuditEvents } from "../../audit/audit.store.ts";
import { chainOrganisation } from "../../audit/chain/chaining.ts";
import { STREAM_LEASE } from "../../audit/stream/stream.store.ts";
import { takeLease } from "../../housekeeping/housekeeping.store.ts";
import { runRound } from "../../housekeeping/housekeeping.ts";
import { listFilters } from "../../saved-filters/saved-filters.store.ts";
import { saveFilter } from "../../saved-filters/saved-filters.ts";
import { findUser, insertMembership } from "../../users/users.store.ts";
import { findOrganisation } from "../organisations.store.ts";
import { setOrganisationStatus } from "../organisations.ts";
import { beginDeletion, GRACE_MS, scheduleDeletion, undoDeletion } from "./deletion.ts";
import { finishDeletions, removeOrganisation } from "./finish-deletions.ts";
import { keepAuditLog, keptLogOf } from "./keep-log.ts";

const MINUTE = 60_000;

forEachDatabase(({ fresh }) => {
  let clock: FakeClock;
  let running: TestService;
  let org: SeededRecords;
  let other: SeededRecords;
  let folder: string;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock });
    org = await seedRecords(running.service, "Acme");
    other = await seedRecords(running.service, "Other");
    folder = await mkdtemp(path.join(os.tmpdir(), "signet-deletion-"));
  });
  after(async () => {
    await running.close();
    await rm(folder, { recursive: true, force: true });
    assert.deepEqual(running.errors, []);
  });

  const id = () => org.organisation.id;
  const db = () => running.service.database.query;
  const asked = () => ({ orgId: id(), actor: "operator" });
  const discovery = async (from = org) =>
    (await fetch(`${from.issuer}/.well-known/openid-configuration`)).status;
  const keepLog = (orgId: string) => keepAuditLog(db(), folder, orgId);
  const finish = (keep = keepLog) => finishDeletions({ ...running.service, keepLog: keep });
  /** By table, without times that go on. */
  const rowsOf = async (word: string) =>
    (await dumpWholeDatabase(db())).split("\n").filter(
      // Whom another organisation offers an application to is that one's setting.
      (line) => line.includes(word) && !(line.startsWith("application ") && line.includes("shared")),
    );

  test("every table of an organisation is among those that are emptied, by its primary key", async () => {
    const tables = await db().introspection.getTables();
    const owned = tables.filter(({ columns }) => columns.some(({ name }) => name === "org_id"));
    assert.deepEqual(
      tablesOfOrganisation.map(([table]) => table).sort(),
      owned.map(({ name }) => name).sort(),
    );
  });

  test("suspends at once, and is undone within thirty days, to what it was before", async () => {
    const source = codeSource(org);
    const { accessToken } = await source.tokens();
    assert.equal(await scheduleDeletion(running.service, asked()), clock() + GRACE_MS);
    assert.equal(await scheduleDeletion(running.service, asked()), undefined, "once");
    assert.equal(await discovery(), 404);
    assert.equal(await setOrganisationStatus(running.service, { ...asked(), disabled: false }), false);
    assert.equal(await discovery(), 404, "resuming does not bring it back");
    const foreign = { token: accessToken, ...credentials(other.web) };
    assert.equal((await postForm(`${other.issuer}/introspect`, foreign)).body["active"], false);
    clock.advance(GRACE_MS - MINUTE);
    await finish(() => assert.fail("it is not due"));
    assert.equal(await undoDeletion(running.service, asked()), true);
    assert.equal(await undoDeletion(running.service, asked()), false);
    assert.equal(await discovery(), 200);

    await setOrganisationStatus(running.service, { ...asked(), disabled: true });
    clock.advance(MINUTE);
    await scheduleDeletion(running.service, asked());
    assert.equal(await undoDeletion(running.service, asked()), true);
    assert.equal(await discovery(), 404, "it was suspended before");
    await setOrganisationStatus(running.service, { ...asked(), disabled: false });
    const said = (await listAuditEvents(db(), id(), 10)).map(({ action }) => action);
    assert.deepEqual(said.slice(0, 5), [
      "organisation.enabled",
      "organisation.deletion-undone",
      "organisation.deletion-scheduled",
      "organisation.disabled",
      "organisation.deletion-undone",
    ]);
  });

  test("one that was suspended in the very millisecond of its deletion is suspended when it comes back", async () => {
    await setOrganisationStatus(running.service, { ...asked(), disabled: true });
    assert.ok(await scheduleDeletion(running.service, asked()));
    assert.equal(await undoDeletion(running.service, asked()), true);
    assert.ok((await findOrganisation(db(), id()))?.disabledAt !== null, "suspended");
    await setOrganisationStatus(running.service, { ...asked(), disabled: false });
    assert.equal(await discovery(), 200);
  });

  test("nothing is deleted before the audit log is kept; then everything is, and nothing of another organisation", async () => {
    const guest = org.user.id;
    const visit = { userId: guest, homeOrgId: id(), role: "Standard" as const, now: clock() };
    await insertMembership(db(), { orgId: other.organisation.id, ...visit });
    const named = {
      orgId: other.organisation.id,
      list: "users",
      name: "One",
      query: `search=${org.user.email}`,
    };
    assert.equal(await saveFilter(running.service, named), true);
    const host = { userId: other.user.id, homeOrgId: other.organisation.id, role: "Standard" as const };
    await insertMembership(db(), { orgId: id(), ...host, now: clock() });
    await codeSource(org).tokens();
    const filled = new Set((await rowsOf(id())).map((line) => line.slice(0, line.indexOf(" "))));
    assert.ok(filled.size > 30, `the fixture fills many tables: ${filled.size}`);
    await scheduleDeletion(running.service, asked());
    clock.advance(GRACE_MS);

    const before = await dumpWholeDatabase(db());
    const noDisk = () => Promise.reject(new Error("ENOSPC"));
    await assert.rejects(finish(noDisk), /ENOSPC/);
    assert.equal(await dumpWholeDatabase(db()), before, "not a row");
    assert.equal(await undoDeletion(running.service, asked()), false, "too late");

    const events = (await listAuditEvents(db(), id(), 1_000)).map(({ id: event }) => event);
    const others = await rowsOf(other.organisation.id);
    await finish();
    const file = keptLogOf(folder, id());
    const kept = (await readFile(file, "utf8")).trim().split("\n");
    assert.deepEqual(kept.map((line) => (JSON.parse(line) as { id: string }).id).sort(), events.sort());
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.equal(await findOrganisation(db(), id()), undefined);
    assert.deepEqual(await rowsOf(id()), []);
    assert.equal(await discovery(), 404);

    assert.equal(await findUser(db(), other.organisation.id, guest), undefined);
    const shared = await listFilters(db(), other.organisation.id);
    assert.deepEqual(
      shared.filter(({ query }) => query.includes(org.user.email)),
      [],
      "nor an address of its guests",
    );
    const [ended] = await listAuditEvents(db(), other.organisation.id, 1);
    assert.deepEqual([ended?.action, ended?.target, ended?.actor], ["roaming.ended", guest, "system"]);
    const left = await rowsOf(other.organisation.id);
    const lost = others.filter((line) => !left.includes(line) && !line.includes(id()));
    assert.deepEqual(
      lost.filter((line) => !/^(audit_chain|audit_event|audit_filter|background_lease|activity) /.test(line)),
      [],
    );
    assert.equal(await discovery(other), 200);
  });

  test("waits for the audit stream, of this node or another, and for a week at most", async () => {
    const { id: orgId } = (await seedRecords(running.service, "Streamed")).organisation;
    await scheduleDeletion(running.service, { orgId, actor: "operator" });
    clock.advance(GRACE_MS);
    const isThere = async () => (await findOrganisation(db(), orgId)) !== undefined;
    await finishDeletions({ ...running.service, keepLog, isStreamed: true });
    assert.ok(await isThere(), "this node streams, and has sent nothing yet");
    const until = clock();
    await takeLease(db(), { name: STREAM_LEASE, holder: "another", now: until - MINUTE, until });
    await finish();
    assert.ok(await isThere(), "another node streams");
    clock.advance(7 * 86_400_000);
    await finish();
    assert.equal(await isThere(), false);

    const { id: sent } = (await seedRecords(running.service, "Sent")).organisation;
    await scheduleDeletion(running.service, { orgId: sent, actor: "operator" });
    clock.advance(GRACE_MS);
    const deps = { ...running.service, key: running.service.chainKey };
    await chainOrganisation(deps, sent);
    await sql`update audit_chain set streamed_seq = seq where org_id = ${sent}`.execute(db());
    await finishDeletions({ ...running.service, keepLog, isStreamed: true });
    assert.equal(await findOrganisation(db(), sent), undefined, "all was sent");
    await sql`delete from background_lease where name = ${STREAM_LEASE}`.execute(db());
  });

  test("goes on where an interrupted deletion stopped, in batches", async () => {
    const third = await seedRecords(running.service, "Third");
    const { id: orgId } = third.organisation;
    await scheduleDeletion(running.service, { orgId, actor: "operator" });
    const rows = (await rowsOf(orgId)).length;
    assert.equal(await deleteRowsOfOrganisation(db(), orgId, 7), 7);
    assert.equal((await rowsOf(orgId)).length, rows - 7);
    clock.advance(GRACE_MS);
    const round = { ...running.service, works: [() => finish()] };
    assert.equal(await runRound(round, "a node"), true);
    assert.deepEqual(await rowsOf(orgId), []);
  });

  test("what is undone while its log is written stays, though the clock of one node is ahead of the other's", async () => {
    const { organisation, issuer } = await seedRecords(running.service, "Undone");
    const { id: orgId } = organisation;
    await scheduleDeletion(running.service, { orgId, actor: "operator" });
    clock.advance(GRACE_MS);
    const behind = { ...running.service, clock: () => clock() - MINUTE };
    await finish(async () => {
      const log = await keepLog(orgId);
      assert.equal(await undoDeletion(behind, { orgId, actor: "operator" }), true);
      return log;
    });
    assert.equal((await fetch(`${issuer}/.well-known/openid-configuration`)).status, 200);
    assert.equal(await removeOrganisation(running.service, orgId), true);
    assert.ok((await rowsOf(orgId)).length > 30);
    assert.deepEqual(
      (await readdir(path.join(folder, "deleted-organisations"))).filter((name) => name.startsWith(orgId)),
      [],
    );
  });

  test("without the time of grace too: what is undone while its log is written stays", async () => {
    const { id: orgId } = (await seedRecords(running.service, "Spared")).organisation;
    const undone = async () =>
      assert.equal(await undoDeletion(running.service, { orgId, actor: "operator" }), true);
    assert.equal(await beginDeletion(running.service, { orgId, actor: "operator" }, undone), false);
    assert.equal(await removeOrganisation(running.service, orgId), true);
    assert.ok((await rowsOf(orgId)).length > 30);

    const written = async () => {};
    assert.equal(await beginDeletion(running.service, { orgId, actor: "operator" }, written), true);
    assert.equal(await undoDeletion(running.service, { orgId, actor: "operator" }), false, "too late");
    assert.equal(await beginDeletion(running.service, { orgId, actor: "operator" }, written), false, "once");
    assert.equal(await removeOrganisation(running.service, orgId), true);
    assert.deepEqual(await rowsOf(orgId), []);
  });

  test("one whose log can't be kept does not keep the others", async () => {
    const [stuck, goes] = [
      await seedRecords(running.service, "Stuck"),
      await seedRecords(running.service, "Goes"),
    ];
    for (const { organisation } of [stuck, goes]) {
      await scheduleDeletion(running.service, { orgId: organisation.id, actor: "operator" });
      clock.advance(1);
    }
    clock.advance(GRACE_MS);
    const keep = (orgId: string) =>
      orgId === stuck.organisation.id ? Promise.reject(new Error("ENOSPC")) : keepLog(orgId);
    await assert.rejects(finish(keep), /ENOSPC/);
    assert.deepEqual(await rowsOf(goes.organisation.id), []);
    assert.ok((await rowsOf(stuck.organisation.id)).length > 30);
    await finish();
  });

  test("the log of the node that began the deletion is not replaced by that of another, which came later", async () => {
    const { id: orgId } = (await seedRecords(running.service, "Twice")).organisation;
    await scheduleDeletion(running.service, { orgId, actor: "operator" });
    clock.advance(GRACE_MS);
    const events = (await listAuditEvents(db(), orgId, 1_000)).length;
    await finish(async () => {
      await finish();
      return keepLog(orgId);
    });
    const kept = (await readFile(keptLogOf(folder, orgId), "utf8")).trim().split("\n");
    assert.equal(kept.length, events);
  });

  test("an organisation that nobody wants deleted stays, whatever is asked of the last step", async () => {
    const { rows } = await sql<{ count: number }>`select count(*) as count from organisation`.execute(db());
    clock.advance(2 * GRACE_MS);
    await finish(() => assert.fail("none is due"));
    const after = await sql<{ count: number }>`select count(*) as count from organisation`.execute(db());
    assert.deepEqual(after.rows, rows);
  });
});
