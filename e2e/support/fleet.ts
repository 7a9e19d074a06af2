/** Two servers on one database behind HAProxy, which asks them whether they are ready and passes each request on to one. */
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import type { TestContext } from "node:test";
import type { DemoFile } from "../../packages/server/src/cli/demo/demo-file.ts";
import { eventually } from "../../packages/server/src/testing/eventually.ts";
import { freePort } from "../../packages/server/src/testing/free-port.ts";
import { startHaproxy } from "./haproxy.ts";
import type { ChainClient } from "./refresh-chain.ts";
import { type ServerProcess, type Settings, startServer } from "./server-process.ts";
import { signet, signetOf } from "./signet-command.ts";
import { makeLoadClient } from "./steady-load.ts";

export interface Fleet {
  /** HAProxy's, and of the issuer. */
  readonly baseUrl: string;
  readonly demo: DemoFile;
  /** With a redirect URI, for families. */
  readonly client: ChainClient;
  readonly nodes: readonly ServerProcess[];
  /** What the operator's commands are told beside it. */
  settings(): Settings;
  /** Drains one after the other and starts it anew, at its address: with further settings, or another version's program. */
  replaceEach(next: { settings?: Settings; program?: string }): Promise<void>;
}

export interface FleetOptions {
  readonly databaseUrl: string;
  readonly settings?: Settings;
  /** Default: today's. */
  readonly program?: string;
}

/** Seconds: HAProxy asks four times in one. */
const DRAIN = "2";

export async function startFleet(t: TestContext, options: FleetOptions): Promise<Fleet> {
  const { databaseUrl } = options;
  const folder = await mkdtemp(path.join(os.tmpdir(), "signet-fleet-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const port = await freePort();
  const baseUrl = `http://localhost:${port}`;
  const key = { SIGNET_MASTER_KEY: randomBytes(32).toString("base64url") };
  const common = { SIGNET_BASE_URL: baseUrl, SIGNET_DRAIN_SECONDS: DRAIN, LOG_LEVEL: "error" };
  let settings: Settings = { ...key, ...options.settings, ...common };
  let { program } = options;
  const start = (more: { port?: number; isDemo: boolean }) =>
    startServer({ databaseUrl, settings, ...(program === undefined ? {} : { program }), ...more });
  const nodes = [await start({ isDemo: true })];
  t.after(() => Promise.all(nodes.map((node) => node.kill())));
  const demo = await (nodes[0] as ServerProcess).demo();
  nodes.push(await start({ isDemo: false }));
  // On a busy machine an answer takes longer than the time between two questions.
  const health = ["option httpchk GET /readyz", "http-check expect status 200", "timeout check 10s"];
  const speed = "default-server check inter 250ms fall 1 rise 1";
  const servers = nodes.map((node, index) => `server node${index} 127.0.0.1:${node.port}`);
  const proxy = await startHaproxy({ folder, port, mode: "http", lines: [...health, speed, ...servers] });
  t.after(() => proxy.stop());
  const commands = () => ({ ...settings, DATABASE_URL: databaseUrl, SIGNET_DATA_DIR: folder });
  return {
    baseUrl,
    demo,
    nodes,
    client: await makeLoadClient(demo, commands(), program === undefined ? signet : signetOf(program)),
    settings: commands,
    replaceEach: async (next) => {
      settings = { ...settings, ...next.settings };
      program = next.program ?? program;
      for (const [index, node] of nodes.entries()) {
        const timesUp = () => proxy.output().split(`servers/node${index} is UP`).length;
        const before = timesUp();
        await node.stop();
        nodes[index] = await start({ port: node.port, isDemo: false });
        await eventually("HAProxy has it back", () => timesUp() > before);
      }
    },
  };
}
