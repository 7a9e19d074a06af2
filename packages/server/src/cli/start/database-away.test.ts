/** `signet start` while the way to its PostgreSQL drops every packet: health checks, recovery, and the stop. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { type Environment, runForJson } from "../../testing/command-line.ts";
import { postgresServer } from "../../testing/databases.ts";
import { eventually } from "../../testing/eventually.ts";
import { type BreakableProxy, breakableProxy } from "../../testing/fakes/breakable-proxy.ts";
import { callApi, type TestAccount } from "../../testing/fixtures/system-account.ts";
import { createDatabase, dropDatabase } from "../../testing/postgres.ts";
import { type StartedProgram, startSignet } from "../../testing/started-program.ts";

const BACK_MS = 5_000;
const STOPPED_MS = 10_000;
const READY_MS = 1_000;
/** Fifteen callers who ask without a pause would take a core from what is measured, and teach nothing more. */
const PAUSE_MS = 50;

describe("signet start, its database silent", () => {
  let folder: string;
  let databaseUrl: string;
  let proxy: BreakableProxy;
  let server: StartedProgram;
  let account: TestAccount;
  /** What this machine takes at this time, with the database there. */
  let usualStartMs: number;
  let usualStopMs: number;
  before(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), "signet-away-"));
    databaseUrl = await createDatabase(await postgresServer());
    const env: Environment = { SIGNET_DATA_DIR: folder, DATABASE_URL: databaseUrl };
    const { id: org } = await runForJson<{ id: string }>(["org", "create", "--name", "Acme"], env);
    const app = ["app", "create", "--org", org, "--name", "Job", "--type", "confidential"];
    const { clientId } = await runForJson<{ clientId: string }>(
      [...app, "--grant", "client_credentials"],
      env,
    );
    const made = ["account", "create", "--org", org, "--app", clientId, "--name", "Job", "--administrator"];
    const { secretKey: secret, ...keys } = await runForJson<TestAccount & { secretKey: string }>(made, env);
    account = { ...keys, secret };
    proxy = await breakableProxy(databaseUrl);
    const throughProxy = { ...env, DATABASE_URL: proxy.url, SIGNET_DRAIN_SECONDS: "5" };
    const first = await startSignet([], { ...throughProxy, SIGNET_DRAIN_SECONDS: "0" });
    usualStartMs = first.readyMs;
    usualStopMs = (await first.stop()).milliseconds;
    server = await startSignet([], throughProxy);
    assert.equal((await list()).status, 200);
  });
  after(async () => {
    server.kill();
    await proxy.close();
    await dropDatabase(await postgresServer(), databaseUrl);
    await rm(folder, { recursive: true, force: true });
  });

  /** A list is read from the database each time. */
  const list = () => callApi(`${server.baseUrl}/legacy/api/oauth/clients`, account);
  const readiness = async () => {
    const began = performance.now();
    const answer = await fetch(`${server.baseUrl}/readyz`);
    const body = (await answer.json()) as { database: string };
    return { status: answer.status, database: body.database, milliseconds: performance.now() - began };
  };

  const liveness = async () => {
    const began = performance.now();
    assert.equal((await fetch(`${server.baseUrl}/livez`)).status, 200);
    return performance.now() - began;
  };

  test("/readyz answers throughout, and the first success comes soon after the path is back", async () => {
    const statuses: number[] = [];
    const load = async (until: () => boolean) => {
      while (!until()) {
        const { status } = await list();
        statuses.push(status);
        await delay(PAUSE_MS);
      }
    };
    let isOver = false;
    proxy.freeze();
    const loads = Promise.all(Array.from({ length: 15 }, () => load(() => isOver)));
    await eventually("it is known", async () => (await readiness()).database === "away");
    // Those that were under way.
    statuses.length = 0;
    const frozenUntil = performance.now() + 5_000;
    while (performance.now() < frozenUntil) {
      // What asks nothing of the database takes what this machine takes at this time.
      const [{ status, milliseconds }, usual] = await Promise.all([readiness(), liveness()]);
      assert.equal(status, 200);
      assert.ok(milliseconds < READY_MS + usual, `${milliseconds} ms, usually ${usual} ms`);
      await delay(PAUSE_MS);
    }
    const successes = () => statuses.filter((status) => status === 200).length;
    assert.equal(successes(), 0);
    proxy.thaw();
    const began = performance.now();
    await eventually("a success", () => successes() > 0);
    const milliseconds = performance.now() - began;
    isOver = true;
    await loads;
    assert.ok(milliseconds < BACK_MS + usualStartMs, `${milliseconds} ms, a start takes ${usualStartMs} ms`);
    assert.deepEqual(
      statuses.filter((status) => status !== 200 && status !== 503),
      [],
    );
    await eventually("ready again", async () => (await readiness()).database === "ok");
  });

  test("SIGTERM ends it within ten seconds", async (t) => {
    proxy.freeze();
    const waiting = Promise.allSettled(Array.from({ length: 15 }, list));
    await eventually("it is known", async () => (await readiness()).database === "away");
    const { code, milliseconds } = await server.stop();
    assert.equal(code, 0);
    t.diagnostic(`stopped after ${Math.round(milliseconds)} ms`);
    assert.ok(milliseconds < STOPPED_MS + usualStopMs, `${milliseconds} ms, usually ${usualStopMs} ms`);
    await waiting;
  });
});
