/** A service whose tokens agents sign, made before its server starts, so that a server may come and go on its data. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import type { TestContext } from "node:test";
import { readConfig } from "../../packages/server/src/config/config.ts";
import type { SigningPool } from "../../packages/server/src/core/signing-pools/signing-pool.ts";
import { openService, type Service } from "../../packages/server/src/modules/open-service.ts";
import { makePool } from "../../packages/server/src/testing/fixtures/agent.ts";
import { freePort } from "../../packages/server/src/testing/free-port.ts";
import { makeOrganisation, type TestOrganisation } from "../../packages/server/src/testing/test-service.ts";
import { type ServerProcess, startServer } from "../support/server-process.ts";

export interface SovereignFixture {
  readonly folder: string;
  readonly databaseUrl: string;
  readonly baseUrl: string;
  readonly org: TestOrganisation;
  readonly pool: SigningPool;
  /** `{issuer}/sovereign/pools/{poolId}` */
  readonly poolIssuer: string;
  /** Beside the server, as an operator's command is. The caller closes it, before a kill: SQLite recovers for who is alone. */
  operator(): Promise<Service>;
  /** Opened for this work alone. */
  operate<T>(work: (service: Service) => Promise<T>): Promise<T>;
  /** The server, or the next one on the same data and at the same address. It ends with the test. */
  start(settings?: Record<string, string>): Promise<ServerProcess>;
}

export interface FixtureOptions {
  /** Absent: SQLite in the data folder. */
  readonly databaseUrl?: string | undefined;
  /** How long the token endpoint waits for an agent. */
  readonly tokenWaitSeconds: number;
}

export async function setUpFixture(t: TestContext, options: FixtureOptions): Promise<SovereignFixture> {
  const folder = await mkdtemp(path.join(os.tmpdir(), "signet-sovereign-"));
  const databaseUrl = options.databaseUrl ?? `sqlite:${path.join(folder, "signet.db")}`;
  const port = await freePort();
  const baseUrl = `http://localhost:${port}`;
  let server: Promise<ServerProcess> | undefined;
  let isOver = false;
  t.after(async () => {
    isOver = true;
    await (await server)?.kill();
    await rm(folder, { recursive: true, force: true });
  });
  const config = readConfig({
    PORT: String(port),
    SIGNET_BASE_URL: baseUrl,
    SIGNET_DATA_DIR: folder,
    DATABASE_URL: databaseUrl,
  });
  const operator = () => openService(config, { onError: (error) => assert.fail(String(error)) });
  const operate: SovereignFixture["operate"] = async (work) => {
    const service = await operator();
    return work(service).finally(() => service.close());
  };
  const { org, pool } = await operate(async (service) => {
    const made = await makeOrganisation(service);
    const { tokenWaitSeconds } = options;
    return { org: made, pool: await makePool(service, made, { tokenWaitSeconds }) };
  });
  // Read by later starts: half of a start is the stripping of types.
  const cache = process.env["NODE_COMPILE_CACHE"] ?? path.join(folder, "compiled");
  return {
    folder,
    databaseUrl,
    baseUrl,
    org,
    pool,
    poolIssuer: `${org.issuer}/sovereign/pools/${pool.id}`,
    operator,
    operate,
    start: async (more = {}) => {
      const settings = { NODE_COMPILE_CACHE: cache, ...more };
      // A test that was ended by its time limit may still be at work.
      if (isOver) throw new Error("the test is over");
      server = startServer({ dataDir: folder, databaseUrl, port, isDemo: false, settings });
      return server;
    },
  };
}
