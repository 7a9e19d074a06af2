/** Resharing with the real service and running agents: tokens go on, a lost machine is replaced, its share is worth nothing. */
import assert from "node:assert/strict";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { deactivateAgent } from "@signet/server/features/sovereign/admin-api/agents";
import { loadGroupKey } from "@signet/server/features/sovereign/console/group-key";
import { forEachDatabase } from "@signet/server/testing/databases";
import { eventually } from "@signet/server/testing/eventually";
import { credentials, postForm } from "@signet/server/testing/fixtures/client";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "@signet/server/testing/test-service";
import { createRemoteJWKSet, jwtVerify } from "jose";
import type { OpenAgent } from "../agent/open-agent.ts";
import {
  holdCeremony,
  holdReshare,
  type Machine,
  makeThresholdWorld,
  type ThresholdWorld,
} from "../testing/threshold-machines.ts";

forEachDatabase(({ empty }) => {
  let folder: string;
  let running: TestService;
  let org: TestOrganisation;
  let world: ThresholdWorld;
  let fourth: Machine;
  const agents = new Map<Machine, OpenAgent>();

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "signet-reshare-"));
    running = await startTestService({ databaseUrl: await empty() });
    org = await makeOrganisation(running.service);
    world = await makeThresholdWorld({
      running,
      org,
      folder,
      threshold: { min: 2, max: 3 },
      tokenWaitSeconds: 4,
    });
    await holdCeremony(world.machines);
    for (const machine of world.machines) await start(machine);
    fourth = await world.enroll("machine-4");
  });
  after(async () => {
    for (const agent of agents.values()) await agent.stop();
    await running.close();
    await rm(folder, { recursive: true });
  });

  const machine = (index: number): Machine => {
    const found = world.machines[index];
    assert.ok(found);
    return found;
  };
  const start = async (one: Machine) => void agents.set(one, await one.start());
  const stop = async (one: Machine) => {
    await agents.get(one)?.stop();
    agents.delete(one);
  };
  const askToken = () =>
    postForm(`${org.issuer}/token`, {
      ...{ grant_type: "client_credentials", scope: "jobs:run" },
      ...credentials(world.client),
    });
  const jwks = async () =>
    (await (await fetch(`${world.issuer}/jwks.json`)).json()) as { keys: Array<{ kid: string; x: string }> };
  const tokenIsGood = async () => {
    let answer = await askToken();
    // A client asks again: its request has stayed in the queue.
    for (let attempt = 0; answer.status === 503 && attempt < 5; attempt++) answer = await askToken();
    assert.equal(
      answer.status,
      200,
      JSON.stringify([answer.body, ...world.machines.map(({ logged }) => logged.slice(-5))]),
    );
    const set = createRemoteJWKSet(new URL(`${world.issuer}/jwks.json`));
    await jwtVerify(String(answer.body["access_token"]), set, { issuer: world.issuer });
  };

  /** What administrators see of the key. */
  const shownKey = async () => {
    const shown = await loadGroupKey({ ...running.service, clock: Date.now }, world.pool);
    assert.ok(shown);
    return shown;
  };
  const names = (agents: ReadonlyArray<{ readonly name: string }>) => agents.map(({ name }) => name).sort();

  test("needs as many active agents of the pool as it has members", async () => {
    const first = machine(0);
    for (const members of ["machine-1,machine-2", "machine-1,machine-2,machine-2"]) {
      assert.notEqual(await first.threshold("reshare", "--members", members, "--wait", "0"), 0);
      assert.match(first.printed.join("\n"), /invalid_members/);
    }
    assert.notEqual(await first.threshold("reshare", "--members", "machine-1,machine-2,nobody"), 0);
    assert.match(first.printed.join("\n"), /no active agent "nobody"/);
  });

  test("one that is ended changes nothing", async () => {
    const [first, before] = [machine(0), await jwks()];
    const members = "machine-1,machine-2,machine-4";
    assert.equal(
      await first.threshold("reshare", "--members", members, "--wait", "0"),
      0,
      first.printed.join(),
    );
    assert.notEqual(await machine(1).threshold("create", "--wait", "0"), 0);
    assert.match(machine(1).printed.join("\n"), /ceremony_open/);
    const { ceremony, holders } = await shownKey();
    assert.deepEqual([ceremony?.kind, ceremony?.state], ["reshare", "joining"]);
    assert.deepEqual(names(holders), ["machine-1", "machine-2", "machine-3"]);
    // Joined, dealt, confirmed: who is not to have a share may deal.
    const asked = new Map(
      ceremony?.agents.map(({ name, joined, dealt, confirmed }) => [name, [joined, dealt, confirmed]]),
    );
    assert.equal(typeof asked.get("machine-1")?.[0], "number");
    assert.deepEqual(asked.get("machine-3"), [null, undefined, null]);
    assert.deepEqual(asked.get("machine-4"), [undefined, null, undefined]);
    // Not among the members.
    assert.equal(await machine(2).threshold("join", "--wait", "0"), 0);
    assert.notEqual(await machine(2).threshold("deal", "--roster", "00"), 0);
    assert.equal(await first.threshold("abort", "--reason", "not today"), 0);
    assert.deepEqual(await jwks(), before);
    const ended = (await shownKey()).ceremony;
    assert.deepEqual([ended?.state, ended?.endReason], ["aborted", "not today"]);
    await tokenIsGood();
  });

  test("replaces a lost machine while tokens are signed: the key is the same", async () => {
    const before = await jwks();
    await stop(machine(2));
    let isOver = false;
    const load = (async () => {
      while (!isOver) await tokenIsGood();
    })();
    const members = [machine(0), machine(1), fourth];
    await holdReshare([machine(0)], { members, dealers: [machine(0), machine(1)] });
    isOver = true;
    await load;
    assert.deepEqual(await jwks(), before);
    const { key, holders, ceremony } = await shownKey();
    assert.deepEqual([key?.kid, key?.state], [before.keys[0]?.kid, "active"]);
    assert.deepEqual(names(holders), ["machine-1", "machine-2", "machine-4"]);
    assert.equal(ceremony?.state, "complete");
    const said = ceremony?.agents.map(({ joined, dealt, confirmed }) =>
      [joined, dealt, confirmed].map((at) => typeof at),
    );
    // The new machine had no share to deal: null.
    assert.deepEqual(
      said?.flat().filter((type) => type !== "number"),
      ["object"],
    );
    await start(fourth);
    await tokenIsGood();
    // The new machine and one of the others.
    await stop(machine(0));
    await tokenIsGood();
    for (const one of [machine(1), fourth]) {
      assert.equal(await one.threshold("verify"), 0, one.printed.join("\n"));
      assert.match(
        one.printed.join("\n"),
        new RegExp(`Key ${before.keys[0]?.kid}: 2 of 3, share valid, active, active`),
      );
      const shares = (await readdir(path.join(one.folder, "threshold"))).filter((name) =>
        name.startsWith("share-"),
      );
      assert.equal(shares.length, 1, shares.join());
    }
  });

  test("the machine that was lost comes back: it erases its share, and signs nothing", async () => {
    const lost = machine(2);
    assert.equal(await lost.threshold("verify"), 0);
    assert.match(lost.printed.join("\n"), /not the members' present shares/);
    await start(lost);
    await eventually("it has no share", () =>
      lost.logged.join("\n").includes("this machine's share is erased"),
    );
    const files = await readdir(path.join(lost.folder, "threshold"));
    assert.ok(!files.some((name) => name.includes("share-")), files.join());
    await stop(machine(1));
    const { status, body } = await askToken();
    assert.deepEqual([status, body["error"]], [503, "temporarily_unavailable"]);
  });

  test("is in the audit log", async () => {
    const rows = await running.service.database.query
      .selectFrom("audit_event")
      .select(["action", "details"])
      .where("org_id", "=", org.organisation.id)
      .where("action", "in", ["threshold-ceremony.begun", "threshold-ceremony.completed"])
      .execute();
    const reshares = rows.filter(({ details }) => String(details).includes("reshare"));
    assert.deepEqual(reshares.map(({ action }) => action).sort(), [
      "threshold-ceremony.begun",
      "threshold-ceremony.begun",
      "threshold-ceremony.completed",
    ]);
  });

  test("a compromised machine ends the key at once, with an open resharing, whoever has shares of it", async () => {
    await start(machine(0));
    await start(machine(1));
    const { body } = await askToken();
    const token = String(body["access_token"]);
    const introspect = async () =>
      (await postForm(`${org.issuer}/introspect`, { token, ...credentials(world.client) })).body["active"];
    assert.equal(await introspect(), true);
    const members = "machine-1,machine-2,machine-3";
    assert.equal(await machine(0).threshold("reshare", "--members", members, "--wait", "0"), 0);
    const { id: agentId } = await running.service.database.query
      .selectFrom("signing_agent")
      .select("id")
      .where("org_id", "=", org.organisation.id)
      .where("name", "=", "machine-4")
      .executeTakeFirstOrThrow();
    const by = { orgId: org.organisation.id, actor: "test" };
    const deps = { ...running.service, baseUrl: running.baseUrl };
    assert.ok(await deactivateAgent(deps, by, { agentId, compromised: true }));
    assert.deepEqual((await jwks()).keys, []);
    assert.equal(await introspect(), false);
    assert.notEqual(await machine(1).threshold("join", "--wait", "0"), 0);
    assert.match(machine(1).printed.join("\n"), /compromised/);
    const refused = await askToken();
    assert.deepEqual([refused.status, refused.body["error"]], [503, "temporarily_unavailable"]);
    assert.notEqual(await machine(0).threshold("reshare", "--members", members, "--wait", "0"), 0);
    assert.match(machine(0).printed.join("\n"), /no_group_key/);
  });
});
