// `signet-agent witness` as the witness of a real service's ledger: it is told the log's key, cosigns, and goes on after a restart.
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { signingInputHash } from "@signet/protocol/ledger/entry";
import { cosignedAt, parseVerifierKey } from "@signet/protocol/ledger/note";
import { openLog } from "@signet/server/core/ledger/append";
import { addWitness } from "@signet/server/core/ledger/witnesses";
import { listWitnesses } from "@signet/server/core/ledger/witnesses.store";
import { forEachDatabase } from "@signet/server/testing/databases";
import { tokenFor } from "@signet/server/testing/fixtures/api-client";
import { type LedgerHarness, ledgerHarness } from "@signet/server/testing/fixtures/ledger-harness";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "@signet/server/testing/test-service";
import { createWitness, setWitnessLogs } from "../testing/witness-log.ts";
import { type OpenWitness, openWitness } from "./open-witness.ts";

forEachDatabase(({ fresh }) => {
  let folder: string;
  let running: TestService;
  let org: TestOrganisation;
  let ledger: LedgerHarness;
  let config: string;
  let verifierKey: string;
  let witness: OpenWitness;
  const start = () => openWitness(config, { log: () => {}, clock: Date.now });
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "signet-witness-service-"));
    const env = { SIGNET_OUTBOUND_ALLOW: "127.0.0.1" };
    running = await startTestService({ databaseUrl: await fresh(), env });
    org = await makeOrganisation(running.service);
    ledger = ledgerHarness(running, org);
    await ledger.set({ ledger: "public", ledgerWitnessQuorum: 1 });
    await openLog(ledger.deps, org.organisation.id);
    ({ config, verifierKey } = await createWitness(folder, []));
    witness = await start();
    const settings = { url: `http://127.0.0.1:${witness.port}`, verifierKey };
    await addWitness(running.service, { orgId: org.organisation.id, actor: "test", settings });
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    await witness.stop();
    await running.close();
    await rm(folder, { recursive: true });
  });

  const lastError = async () =>
    (await listWitnesses(running.service.database.query, org.organisation.id))[0]?.lastError;

  test("a log is witnessed once its key is known, grows, and goes on after a restart", async () => {
    const unknown = await tokenFor(org, org.batch);
    await ledger.grow();
    assert.equal(await lastError(), "unknown-log");
    assert.equal((await ledger.get(`/proof?sha256=${signingInputHash(unknown)}`)).status, 404);

    await setWitnessLogs(config, [(await ledger.get("/key")).text.trim()]);
    await witness.reload();
    await Promise.all(Array.from({ length: 5 }, () => tokenFor(org, org.batch)));
    await ledger.grow();
    assert.equal(await lastError(), null);
    const key = parseVerifierKey(verifierKey);
    assert.ok(key);
    const { signed } = await ledger.prove(unknown);
    assert.ok(cosignedAt(signed.note, key) !== undefined);

    const { port } = witness;
    await witness.stop();
    await setWitnessPort(port);
    witness = await start();
    const later = await tokenFor(org, org.batch);
    await ledger.grow();
    assert.equal(await lastError(), null);
    const proof = await ledger.prove(later);
    assert.ok(proof.signed.size > signed.size && cosignedAt(proof.signed.note, key) !== undefined);
  });

  /** The service has its address. */
  async function setWitnessPort(port: number): Promise<void> {
    await writeFile(config, (await readFile(config, "utf8")).replace(/port: \d+/, `port: ${port}`));
  }
});
