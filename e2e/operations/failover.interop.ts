/**
 * The database's primary changes under load, planned and unplanned: Patroni and etcd choose another, HAProxy leads one node
 * there, and the other node finds it among its several hosts. SIGNET_INTEROP_FAILOVERS=50 takes a quarter of an hour.
 */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { describe, type TestContext, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { eventually } from "../../packages/server/src/testing/eventually.ts";
import { freePort } from "../../packages/server/src/testing/free-port.ts";
import { startHaproxy } from "../support/haproxy.ts";
import {
  askMember,
  killDatabase,
  missingPatroni,
  type PatroniCluster,
  startPatroni,
} from "../support/patroni.ts";
import type { PatroniMember } from "../support/patroni-member.ts";
import { missingProgram } from "../support/programs.ts";
import { startServer } from "../support/server-process.ts";
import { type Load, makeLoadClient, startLoad } from "../support/steady-load.ts";

const failovers = Number(process.env["SIGNET_INTEROP_FAILOVERS"] ?? 10);
/** After the new primary has acknowledged a write, through either path. */
const BACK_MS = 2_000;
/** Requests take as long as this many usual ones too: three databases, their agents and two nodes share two cores with other tests. */
const BACK_REQUESTS = 20;
const LOOK_MS = 50;
const LOAD = { families: 16, services: 2, newcomers: 1 };

const kinds = {
  /** An operator's, before maintenance. */
  planned: async (cluster: PatroniCluster) => cluster.switchOver(),
  /** SIGKILL of PostgreSQL: its agent notices at once. */
  database: async (_cluster: PatroniCluster, primary: PatroniMember) => killDatabase(primary),
  /** SIGKILL of the agent too, as of a machine: the others notice when the leader's lease ends. */
  machine: async (_cluster: PatroniCluster, primary: PatroniMember) => {
    await primary.killAgent();
    killDatabase(primary);
  },
};
type Kind = keyof typeof kinds;

const kindOf = (index: number): Kind =>
  index % 6 === 5 ? "machine" : index % 2 === 0 ? "planned" : "database";

const missing = missingPatroni() || missingProgram("haproxy", ["-v"]);

describe("a failover of PostgreSQL", { skip: missing }, () => {
  test(`${failovers} planned and unplanned: nothing acknowledged is lost, and tokens are there soon after`, {
    timeout: 3_600_000,
  }, async (t) => {
    const cluster = await startPatroni();
    t.after(() => cluster.stop());
    await askMember(await cluster.primary(), "create table failover_probe (written integer)");
    const { load, addresses } = await startNodes(t, cluster);
    const times: Record<Kind, number[]> = { planned: [], database: [], machine: [] };
    for (let index = 0; index < failovers; index += 1) {
      const kind = kindOf(index);
      const took = await failOver(cluster, kind, load, addresses);
      times[kind].push(...took);
      assert.deepEqual(load.tally().wrong, [], `after ${index + 1} failovers, the last ${kind}`);
    }
    const { issued, families, refreshes, away, wrong } = await load.stop();
    t.diagnostic(`${issued.length} tokens, ${refreshes} of them refreshes, for ${families} families`);
    t.diagnostic(`asked for a later attempt: ${JSON.stringify(away)}`);
    for (const [kind, all] of Object.entries(times)) t.diagnostic(`first refresh, ${kind}: ${shown(all)}`);
    assert.deepEqual(wrong, []);
    const bound = BACK_MS + BACK_REQUESTS * median(issued.map(({ milliseconds }) => milliseconds));
    const usual = median(Object.values(times).flat());
    assert.ok(usual <= bound, `the first refresh comes after ${usual} ms, not within ${bound}`);
  });
});

/** One node through HAProxy, which asks Patroni who takes writes, and one with all members' addresses. */
async function startNodes(
  t: TestContext,
  cluster: PatroniCluster,
): Promise<{ load: Load; addresses: string[] }> {
  const folder = await mkdtemp(path.join(os.tmpdir(), "signet-failover-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const port = await freePort();
  const health = ["option httpchk OPTIONS /primary", "http-check expect status 200", "timeout check 10s"];
  const speed = "default-server inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions";
  const servers = cluster.members.map(
    ({ name, databasePort, apiPort }) => `server ${name} 127.0.0.1:${databasePort} check port ${apiPort}`,
  );
  const proxy = await startHaproxy({ folder, port, mode: "tcp", lines: [...health, speed, ...servers] });
  t.after(() => proxy.stop());
  const ownPort = await freePort();
  const settings = {
    SIGNET_BASE_URL: `http://localhost:${ownPort}`,
    SIGNET_MASTER_KEY: randomBytes(32).toString("base64url"),
    LOG_LEVEL: "error",
  };
  const proxied = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const first = await startServer({ databaseUrl: proxied, port: ownPort, settings });
  t.after(() => first.kill());
  const second = await startServer({ databaseUrl: cluster.url, isDemo: false, settings });
  t.after(() => second.kill());
  const demo = await first.demo();
  const client = await makeLoadClient(demo, { ...first.settings, ...settings });
  const addresses = [first.baseUrl, second.baseUrl];
  return { load: await startLoad(t, { addresses, demo, client, ...LOAD }), addresses };
}

/** @returns for each address the milliseconds from when another member takes writes to the first refresh */
async function failOver(
  cluster: PatroniCluster,
  kind: Kind,
  load: Load,
  addresses: readonly string[],
): Promise<number[]> {
  const before = await cluster.primary();
  const done = kinds[kind](cluster, before);
  const others = cluster.members.filter((member) => member !== before);
  await eventually(
    "another member takes writes",
    async () => {
      await delay(LOOK_MS);
      return (await Promise.all(others.map(commits))).includes(true);
    },
    60_000,
  );
  const taken = performance.now();
  const firstFrom = (address: string) =>
    load
      .tally()
      .issued.find(
        (token) => token.grant === "refresh_token" && token.address === address && token.at > taken,
      );
  await eventually("tokens are issued again", () => addresses.every((address) => firstFrom(address)), 60_000);
  await done;
  if (kind === "machine") await before.start();
  await cluster.settled();
  return addresses.map((address) => Math.round((firstFrom(address)?.at ?? 0) - taken));
}

/** Whether a write is acknowledged, for which the primary needs its synchronous standby. */
const commits = async (member: PatroniMember): Promise<boolean> =>
  (await askMember(member, "insert into failover_probe values (1) returning 1")) === 1;

const median = (all: readonly number[]): number =>
  all.toSorted((one, other) => one - other)[Math.floor(all.length / 2)] ?? 0;

const shown = (all: readonly number[]): string =>
  all.length === 0
    ? "none"
    : `${all.length / 2} times, median ${median(all)} ms, at most ${Math.max(...all)} ms`;
