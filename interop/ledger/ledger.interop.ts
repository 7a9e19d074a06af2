// The ledger of signatures and the cosignatures of `signet-agent witness`, verified by Go's own packages of the checksum database
// (sumdb/note, sumdb/tlog).
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { openLog } from "../../packages/server/src/core/ledger/append.ts";
import { addWitness } from "../../packages/server/src/core/ledger/witnesses.ts";
import { tokenFor } from "../../packages/server/src/testing/fixtures/api-client.ts";
import { ledgerHarness } from "../../packages/server/src/testing/fixtures/ledger-harness.ts";
import { makeOrganisation, startTestService } from "../../packages/server/src/testing/test-service.ts";
import { createWitness } from "../../packages/signing-agent/src/testing/witness-log.ts";
import { openWitness } from "../../packages/signing-agent/src/witness/open-witness.ts";
import { missingGo } from "../clients/go-program.ts";

const run = promisify(execFile);
const timeout = 180_000;

test("Go verifies checkpoints, cosignatures, consistency and every entry", {
  skip: missingGo(),
  timeout,
}, async () => {
  const env = { SIGNET_OUTBOUND_ALLOW: "127.0.0.1" };
  const running = await startTestService({ databaseUrl: "sqlite::memory:", env });
  const org = await makeOrganisation(running.service);
  const orgId = org.organisation.id;
  const ledger = ledgerHarness(running, org);
  await ledger.set({ ledger: "public" });
  await openLog(ledger.deps, orgId);
  const verifierKey = (await ledger.get("/key")).text.trim();
  const folder = await mkdtemp(path.join(tmpdir(), "signet-interop-witness-"));
  const { config } = await createWitness(folder, [verifierKey], "witness.example/w1");
  const witness = await openWitness(config, { log: () => {}, clock: Date.now });
  try {
    const settings = { url: `http://127.0.0.1:${witness.port}`, verifierKey: witness.verifierKey };
    await addWitness(running.service, { orgId, actor: "test", settings });
    const sign = (count: number) =>
      Promise.all(Array.from({ length: count }, () => tokenFor(org, org.batch)));
    await sign(70);
    await ledger.grow();
    const before = await ledger.checkpoint();
    await sign(600);
    await ledger.grow();
    const earlier = [String(before.size), before.root.toString("base64")];
    const address = `${running.baseUrl}/ledger/${orgId}`;
    const cwd = path.join(import.meta.dirname, "verify-log");
    const { stdout } = await run("go", ["run", ".", address, verifierKey, ...earlier, witness.verifierKey], {
      cwd,
    });
    assert.match(stdout, /^670 entries verified, cosigned by witness\.example\/w1\n$/);
    const wrong = [String(before.size), Buffer.alloc(32, 1).toString("base64")];
    await assert.rejects(
      run("go", ["run", ".", address, verifierKey, ...wrong, witness.verifierKey], { cwd }),
    );
  } finally {
    await witness.stop();
    await running.close();
    await rm(folder, { recursive: true });
  }
});
