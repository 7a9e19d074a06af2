/** Agents with whole keys that approve each other's signatures, and look at the ledger, with the real service. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { openLog } from "@signet/server/core/ledger/append";
import { addWitness } from "@signet/server/core/ledger/witnesses";
import { forEachDatabase } from "@signet/server/testing/databases";
import { startWitness, type TestWitness } from "@signet/server/testing/fakes/ledger-witness";
import { credentials, postForm } from "@signet/server/testing/fixtures/client";
import { type LedgerHarness, ledgerHarness } from "@signet/server/testing/fixtures/ledger-harness";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "@signet/server/testing/test-service";
import { createRemoteJWKSet, jwtVerify } from "jose";
import type { OpenAgent } from "../agent/open-agent.ts";
import { makeApprovingWorld, readJournal } from "../testing/approving-machines.ts";

forEachDatabase(({ fresh }) => {
  let folder: string;
  let running: TestService;
  let org: TestOrganisation;
  let ledger: LedgerHarness;
  let witness: TestWitness;
  let world: Awaited<ReturnType<typeof makeApprovingWorld>>;
  const agents = new Map<string, OpenAgent>();

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "signet-approvals-"));
    const env = { SIGNET_OUTBOUND_ALLOW: "127.0.0.1" };
    running = await startTestService({ databaseUrl: await fresh(), env });
    org = await makeOrganisation(running.service);
    ledger = ledgerHarness(running, org);
    const orgId = org.organisation.id;
    await ledger.set({ ledger: "public", ledgerWitnessQuorum: 1 });
    await openLog(ledger.deps, orgId);
    const { name: origin } = await ledger.logKey();
    const key = (await ledger.get("/key")).text.trim();
    witness = await startWitness("w.example", { origin, verifierKey: key });
    const settings = { url: witness.url, verifierKey: witness.verifierKey };
    await addWitness(running.service, { orgId, actor: "test", settings });
    const more = (machine: string) =>
      [
        "ledger:",
        `  url: ${running.baseUrl}/ledger/${orgId}`,
        `  key: "${key}"`,
        `  witnesses: ["${witness.verifierKey}"]`,
        "  maxAge: 3600",
        `  stateFile: ${machine}/ledger.json`,
        "",
      ].join("\n");
    world = await makeApprovingWorld({ running, org, folder, approvals: 2, count: 3, more });
    for (const machine of world.machines) agents.set(machine.folder, await machine.start());
  });
  after(async () => {
    for (const agent of agents.values()) await agent.stop();
    await running.close();
    await witness.close();
    await rm(folder, { recursive: true });
  });

  const askToken = (scope = "jobs:run") =>
    postForm(`${org.issuer}/token`, {
      ...{ grant_type: "client_credentials", scope },
      ...credentials(world.client),
    });
  const journals = () => Promise.all(world.machines.map(readJournal));

  test("a token is an ordinary one; its leaf names both approvals, which are in the agents' journals", async () => {
    const { status, body } = await askToken();
    assert.equal(status, 200, JSON.stringify(body));
    const token = String(body["access_token"]);
    const keys = createRemoteJWKSet(new URL(`${world.issuer}/jwks.json`));
    await jwtVerify(token, keys, { issuer: world.issuer, typ: "at+jwt" });
    await ledger.grow();
    const { entry } = await ledger.prove(token);
    const lines = (await journals()).flat();
    const approved = lines.find(({ event }) => event === "approved");
    const signed = lines.find(({ event }) => event === "signed");
    assert.equal(entry.approvals.length, 2);
    assert.equal(entry.approvals[0], approved?.["approvalSha256"]);
    assert.deepEqual(signed?.["approvals"], entry.approvals);
    assert.equal(approved?.["inputSha256"], entry.sha256);
    assert.equal(approved?.["kid"], entry.kid);
  });

  test("many at once are all signed, each with two agents", async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => askToken()));
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
    const lines = (await journals()).flat();
    const count = (event: string) => lines.filter((line) => line["event"] === event).length;
    assert.equal(count("signed"), 21);
    assert.ok(count("approved") >= 21);
    assert.equal(
      (await journals()).filter((one) => one.length > 0).length,
      3,
      "all of them take their turns",
    );
  });

  test("what one policy refuses, nobody signs", async () => {
    const { status, body } = await askToken("jobs:read");
    assert.deepEqual([status, body["error"]], [400, "access_denied"]);
    const refused = (await journals()).flat().filter(({ event }) => event === "refused");
    assert.equal(refused.length, 1);
  });

  test("an agent that is away is replaced", async () => {
    const [first, second, third] = world.machines;
    assert.ok(first && second && third);
    await agents.get(third.folder)?.stop();
    agents.delete(third.folder);
    const answers = [await askToken(), await askToken()];
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
    agents.set(third.folder, await third.start());
    assert.equal((await askToken()).status, 200);
  });

  test("a ledger for members is read with each agent's own key", async () => {
    await ledger.set({ ledger: "members" });
    for (const machine of world.machines) {
      await agents.get(machine.folder)?.stop();
      // Remembers nothing: it signs only after it has read the ledger.
      await rm(path.join(machine.folder, "ledger.json"), { force: true });
      agents.set(machine.folder, await machine.start());
    }
    const { status, body } = await askToken();
    assert.equal(status, 200, JSON.stringify(body));
  });
});
