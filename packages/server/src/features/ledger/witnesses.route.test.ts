// Witnesses of ledgers: proofs against what they have cosigned, those that are away or lie, and no second history past them.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { signingInputHash } from "@signet/protocol/ledger/entry";
import { cosignedAt, parseVerifierKey, type VerifierKey } from "@signet/protocol/ledger/note";
import { sql } from "kysely";
import { openLog } from "../../core/ledger/append.ts";
import { listWitnesses } from "../../core/ledger/witnesses.store.ts";
import { addWitness, removeWitness } from "../../core/ledger/witnesses.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../testing/fakes/fake-clock.ts";
import { startWitness } from "../../testing/fakes/ledger-witness.ts";
import { tokenFor } from "../../testing/fixtures/api-client.ts";
import { type LedgerHarness, ledgerHarness } from "../../testing/fixtures/ledger-harness.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let ledger: LedgerHarness;
  let clock: FakeClock;
  before(async () => {
    clock = fakeClock();
    const env = { SIGNET_OUTBOUND_ALLOW: "127.0.0.1" };
    running = await startTestService({ databaseUrl: await fresh(), clock, env });
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    await running.close();
  });
  beforeEach(async () => {
    org = await makeOrganisation(running.service);
    ledger = ledgerHarness(running, org);
  });

  const orgId = () => org.organisation.id;
  const witnessed = async (names: readonly string[], ledgerWitnessQuorum: number) => {
    await ledger.set({ ledger: "public", ledgerWitnessQuorum });
    await openLog(ledger.deps, orgId());
    const { name: origin } = await ledger.logKey();
    const verifierKey = (await ledger.get("/key")).text.trim();
    const witnesses = await Promise.all(names.map((name) => startWitness(name, { origin, verifierKey })));
    for (const { url, verifierKey: key } of witnesses)
      await addWitness(running.service, {
        ...{ orgId: orgId(), actor: "test", settings: { url, verifierKey: key } },
      });
    return { witnesses, close: () => Promise.all(witnesses.map((one) => one.close())) };
  };
  const keyOf = (text: string): VerifierKey => {
    const key = parseVerifierKey(text);
    assert.ok(key);
    return key;
  };
  const errorsOf = async () =>
    (await listWitnesses(running.service.database.query, orgId())).map(({ lastError }) => lastError);

  test("a proof is against a checkpoint that enough witnesses have cosigned; one that is away leaves its name", async () => {
    const { witnesses, close } = await witnessed(["w.example/1", "w.example/2", "w.example/3"], 2);
    const [first, second, third] = witnesses;
    assert.ok(first && second && third);
    third.answer = { status: 500, body: "" };
    const token = await tokenFor(org, org.batch);
    await ledger.grow();
    const { signed } = await ledger.prove(token);
    assert.ok(cosignedAt(signed.note, keyOf(first.verifierKey)) !== undefined);
    assert.ok(cosignedAt(signed.note, keyOf(second.verifierKey)) !== undefined);
    assert.equal(cosignedAt(signed.note, keyOf(third.verifierKey)), undefined);
    assert.deepEqual(await errorsOf(), [null, null, "refused"]);

    second.answer = { status: 200, body: "\u2014 w.example/2 AAAAAAAAAAAA\n" };
    const later = await tokenFor(org, org.batch);
    await ledger.grow();
    const waiting = await ledger.get(`/proof?sha256=${signingInputHash(later)}`);
    assert.equal(waiting.status, 404);
    assert.match(waiting.text, /urn:signet:error:not-witnessed/);
    assert.deepEqual(await errorsOf(), [null, "bad-cosignature", "refused"]);
    assert.equal((await ledger.checkpoint()).size, signed.size, "the witnessed one is published");
    await ledger.prove(token);

    second.answer = undefined;
    clock.advance(61_000);
    await ledger.grow();
    await ledger.prove(later);
    assert.deepEqual(await errorsOf(), [null, null, "refused"]);
    await close();
  });

  test("a witness's word on a log that rests is asked for again", async () => {
    const { witnesses, close } = await witnessed(["w.example/1"], 1);
    await tokenFor(org, org.batch);
    const one = ledger.worker();
    await one.round();
    await one.settled();
    await one.round();
    await one.settled();
    assert.equal(witnesses[0]?.asked(), 1);
    clock.advance(61_000);
    await one.round();
    await one.settled();
    assert.equal(witnesses[0]?.asked(), 2);
    await one.stop();
    await close();
  });

  test("a log that is set back or forked gets no more cosignatures, and says so", async () => {
    const { witnesses, close } = await witnessed(["w.example/1"], 1);
    const { query } = running.service.database;
    const tables = ["ledger_log", "ledger_tile", "ledger_bundle", "ledger_index", "ledger_batch"];
    await tokenFor(org, org.batch);
    await ledger.grow();
    // A backup of now, which is restored after the log has gone on.
    const saved = await Promise.all(
      tables.map(async (table) => {
        const found = sql<
          Record<string, unknown>
        >`select * from ${sql.table(table)} where org_id = ${orgId()}`;
        return { table, rows: (await found.execute(query)).rows };
      }),
    );
    const seen = await tokenFor(org, org.batch);
    await ledger.grow();
    const before = await ledger.prove(seen);
    for (const { table, rows } of saved) {
      await sql`delete from ${sql.table(table)} where org_id = ${orgId()}`.execute(query);
      for (const row of rows) {
        const names = sql.join(Object.keys(row).map((name) => sql.ref(name)));
        await sql`insert into ${sql.table(table)} (${names}) values (${sql.join(Object.values(row))})`.execute(
          query,
        );
      }
    }
    for (let more = 0; more < 3; more++) {
      await tokenFor(org, org.batch);
      await ledger.grow();
    }
    assert.deepEqual(await errorsOf(), ["inconsistent"]);
    assert.deepEqual(witnesses[0]?.latest()?.root, before.signed.root, "the witness keeps what it has seen");
    assert.ok((await ledger.checkpoint()).size < before.signed.size, "no forked checkpoint is published");
    await close();
  });

  test("witnesses are checked, told apart by their keys, bounded, and audited", async () => {
    const { witnesses, close } = await witnessed(["w.example/1"], 1);
    const verifierKey = witnesses[0]?.verifierKey ?? "";
    const add = (url: string, key = verifierKey) =>
      addWitness(running.service, { orgId: orgId(), actor: "test", settings: { url, verifierKey: key } });
    for (const url of [
      "ftp://w.example",
      "http://w.example",
      "https://w.example/?a=1",
      "https://w.example/#a",
      "x",
    ])
      await assert.rejects(async () => add(url), { code: "invalid-url" }, url);
    const logs = (await ledger.get("/key")).text.trim();
    for (const key of ["", "x", logs])
      await assert.rejects(async () => add("https://w.example", key), { code: "invalid-key" });
    await assert.rejects(() => add("https://w.example"), { code: "known-key" });
    const [stored] = await listWitnesses(running.service.database.query, orgId());
    const other = await makeOrganisation(running.service, "Third");
    const id = stored?.id ?? "";
    const foreign = { orgId: other.organisation.id, actor: "test", id };
    assert.equal(await removeWitness(running.service, foreign), false);
    assert.equal(await removeWitness(running.service, { orgId: orgId(), actor: "test", id }), true);
    assert.equal(await removeWitness(running.service, { orgId: orgId(), actor: "test", id }), false);
    const actions = await running.service.database.query
      .selectFrom("audit_event")
      .select("action")
      .where("org_id", "=", orgId())
      .where("action", "like", "ledger-witness.%")
      .orderBy("id")
      .execute();
    assert.deepEqual(
      actions.map(({ action }) => action),
      ["ledger-witness.created", "ledger-witness.deleted"],
    );
    await close();
  });
});
