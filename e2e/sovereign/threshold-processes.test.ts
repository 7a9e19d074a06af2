/**
 * A threshold pool of real processes: its machines are killed while they sign, one is replaced by resharing, and the whole key is looked
 * for in the memory, files, database and logs of all of them: it is nowhere, and the service has no share of it either.
 */
import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { createRemoteJWKSet, jwtVerify } from "jose";
import { combineShares, identifierScalar } from "../../packages/protocol/src/threshold/reshare.ts";
import { interpolation } from "../../packages/protocol/src/threshold/signing.ts";
import { credentials, postForm } from "../../packages/server/src/testing/fixtures/client.ts";
import { dumpWholeDatabase } from "../../packages/server/src/testing/probes/dump-database.ts";
import { verifyJournal } from "../../packages/signing-agent/src/journal/verify-journal.ts";
import {
  holdCeremony,
  holdReshare,
  type Machine,
  makeThresholdWorld,
} from "../../packages/signing-agent/src/testing/threshold-machines.ts";
import { type KeptShare, readShares } from "../../packages/signing-agent/src/threshold/group-share.ts";
import { openSealedFolder } from "../../packages/signing-agent/src/threshold/sealed-folder.ts";
import { canReadMemory, filesIn, found, memoryOf, type Needle, writtenAs } from "./key-search.ts";
import { type AgentProcess, compileAgent, startAgentProcess } from "./signing-agent-process.ts";
import { setUpFixture } from "./sovereign-fixture.ts";

/** SIGNET_TEST_WHOLE=1 kills 200 times, and searches all machines' memory. */
const IS_WHOLE = process.env["SIGNET_TEST_WHOLE"] === "1";
const KILLS = IS_WHOLE ? 200 : 2;
const timeout = 60_000 + KILLS * 10_000;

test("processes are killed while they sign; the key is in none of them", { timeout }, async (t) => {
  const fixture = await setUpFixture(t, { tokenWaitSeconds: 20 });
  const server = await fixture.start();
  const folder = await mkdtemp(path.join(os.tmpdir(), "signet-threshold-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const operator = await fixture.operator();
  t.after(() => operator.close());
  const running = { service: operator, baseUrl: fixture.baseUrl };
  const world = await makeThresholdWorld({
    running,
    org: fixture.org,
    folder,
    threshold: { min: 2, max: 3 },
  });
  await holdCeremony(world.machines);
  const fourth = await world.enroll("machine-4");
  await mkdir(path.join(folder, "compiled"));
  await compileAgent(world.machines[0]?.folder ?? "");

  const processes = new Map<Machine, AgentProcess>();
  t.after(() => Promise.all([...processes.values()].map((one) => one.kill())));
  const start = async (machine: Machine) => {
    const agent = startAgentProcess(machine.folder);
    processes.set(machine, agent);
    await agent.said("agent started");
  };
  for (const machine of world.machines) await start(machine);

  const set = createRemoteJWKSet(new URL(`${world.issuer}/jwks.json`));
  const tokens = new Set<string>();
  const ask = async () => {
    const asked = { grant_type: "client_credentials", scope: "jobs:run", ...credentials(world.client) };
    const { status, body } = await postForm(`${fixture.org.issuer}/token`, asked);
    // Nobody may have been there for a moment: the client asks again.
    if (status === 503) return;
    assert.equal(status, 200, JSON.stringify(body));
    const token = String(body["access_token"]);
    assert.ok(!tokens.has(token));
    tokens.add(token);
    await jwtVerify(token, set, { issuer: world.issuer });
  };
  let isOver = false;
  const load = Array.from({ length: 3 }, async () => {
    while (!isOver) await ask();
  });
  for (let kill = 0; kill < KILLS; kill++) {
    const machine = world.machines[kill % world.machines.length];
    assert.ok(machine);
    await delay(Math.random() * 150);
    await processes.get(machine)?.kill();
    await start(machine);
  }
  // Machine 3 is replaced while the others sign.
  const [first, second, third] = world.machines as [Machine, Machine, Machine];
  await processes.get(third)?.kill();
  await holdReshare([first], { members: [first, second, fourth], dealers: [first, second] });
  await start(fourth);
  const before = tokens.size;
  while (tokens.size < before + 5) await delay(20);
  isOver = true;
  await Promise.all(load);

  for (const machine of [first, second, fourth]) {
    assert.equal(await machine.threshold("verify"), 0, machine.printed.join("\n"));
    const { fault } = await verifyJournal([path.join(machine.folder, "journal.jsonl")], () => {});
    assert.equal(fault, undefined, machine.name);
  }
  await everyNonceOnce();
  const shares = await Promise.all(
    [first, second, fourth].map(async (one) => ({ one, share: await shareOf(one) })),
  );
  const key = wholeKey(shares.map(({ share }) => share).slice(0, 2));
  assert.deepEqual(wholeKey(shares.map(({ share }) => share).slice(1)), key, "any two have the same");
  const needles = needlesOf("the key", key);
  const ofShares = new Map(
    shares.map(({ one, share }) => [one, needlesOf(one.name, Buffer.from(share.signingShare, "base64url"))]),
  );
  const everything = [...needles, ...[...ofShares.values()].flat()];
  const nothing = (where: string, hay: Buffer | string, of = everything) => {
    assert.deepEqual(found(of, hay), [], where);
  };
  nothing("the database", await fixture.operate(({ database }) => dumpWholeDatabase(database.query)));
  for (const file of await filesIn(fixture.folder)) nothing(file.name, file.bytes);
  nothing("the server's log", server.output());
  for (const machine of [first, second, third, fourth])
    for (const file of await filesIn(machine.folder)) nothing(`${machine.name}: ${file.name}`, file.bytes);
  for (const [machine, agent] of processes) nothing(`${machine.name}'s log`, agent.output());
  if (!canReadMemory(server.pid)) return;
  for (const part of memoryOf(server.pid)) nothing("the server's memory", part);
  // Each takes seconds; in each of them runs the same program.
  for (const { one } of IS_WHOLE ? shares : shares.slice(0, 1)) {
    const others = [...ofShares].filter(([machine]) => machine !== one).flatMap(([, of]) => of);
    let hasOwn = false;
    for (const part of memoryOf(processes.get(one)?.pid ?? 0)) {
      nothing(`${one.name}'s memory`, part, [...needles, ...others]);
      hasOwn ||= found(ofShares.get(one) ?? [], part).length > 0;
    }
    assert.ok(hasOwn, `${one.name}'s own share is in its memory: it was searched`);
  }

  /** Of those that machines signed with: the service has each in one request. */
  async function everyNonceOnce(): Promise<void> {
    const parts = await operator.database.query
      .selectFrom("threshold_part")
      .select(["agent_id", "commitments", "request_id"])
      .where("org_id", "=", fixture.org.organisation.id)
      .where("state", "=", "signed")
      .execute();
    const used = parts.map(({ agent_id, commitments }) => `${agent_id} ${commitments}`);
    assert.equal(new Set(used).size, used.length);
    assert.ok(used.length >= 2 * tokens.size, `${used.length} shares, ${tokens.size} tokens`);
  }
});

async function shareOf({ folder }: Machine): Promise<KeptShare> {
  const sealingKeyFile = path.join(folder, "sealing-key");
  const [share] = await readShares(
    await openSealedFolder({ folder: path.join(folder, "threshold"), sealingKeyFile }),
  );
  assert.ok(share);
  return share;
}

/** What exists nowhere: made here, by whoever has `min` shares. */
function wholeKey(shares: readonly KeptShare[]): Buffer {
  const list = shares.map(({ own }) => ({ kid: own, x: identifierScalar(own) }));
  const factors = new Map(list.map(({ kid, x }) => [kid, interpolation(list, x)]));
  const received = Object.fromEntries(
    shares.map(({ own, signingShare }) => [own, new Uint8Array(Buffer.from(signingShare, "base64url"))]),
  );
  const deals = list.map(({ kid }) => ({ kid }));
  return Buffer.from(combineShares({ deals, factors }, received));
}

/** Little-endian, as RFC 9591 and a bigint in memory have it, and the other way round; and as the text forms that the programs use. */
const needlesOf = (name: string, secret: Buffer): Needle[] => [
  { name: `${name}, raw`, bytes: secret },
  { name: `${name}, reversed`, bytes: Buffer.from(secret).reverse() },
  ...writtenAs(secret)
    .filter((needle) => ["hex", "base64url"].includes(needle.name))
    .map((needle) => ({ ...needle, name: `${name}, ${needle.name}` })),
];
