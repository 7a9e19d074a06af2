/**
 * Every process of the database is stopped for 22 seconds under load (a snapshot of its machine, a disk that hangs): longer than
 * Signet waits for an answer, and than clients do. What was under way is done when it goes on, and nobody has heard of it.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { eventually } from "../../packages/server/src/testing/eventually.ts";
import { startPostgres } from "../../packages/server/src/testing/postgres.ts";
import { processesBelow, signalAll } from "../support/processes.ts";
import { startServer } from "../support/server-process.ts";
import { makeLoadClient, startLoad } from "../support/steady-load.ts";

const STALL_MS = 22_000;
const FAMILIES = 40;

test(`the database stands still for 22 s: none of ${FAMILIES} families is lost`, async (t) => {
  const database = await startPostgres();
  t.after(() => database.stop());
  const server = await startServer({ databaseUrl: database.url, settings: { LOG_LEVEL: "error" } });
  t.after(() => server.kill());
  const demo = await server.demo();
  const client = await makeLoadClient(demo, server.settings);
  const load = await startLoad(t, {
    addresses: [server.baseUrl],
    demo,
    client,
    families: FAMILIES,
    services: 1,
  });
  await eventually("every family refreshes", () => load.tally().refreshes > 5 * FAMILIES, 60_000);

  const stopped = processesBelow(database.pid);
  t.after(() => signalAll(stopped, "SIGCONT"));
  signalAll(stopped, "SIGSTOP");
  await delay(STALL_MS);
  signalAll(stopped, "SIGCONT");
  const { refreshes } = load.tally();
  await eventually("every family goes on", () => load.tally().refreshes > refreshes + FAMILIES, 60_000);
  const told = await load.stop();
  t.diagnostic(`${told.refreshes} refreshes; asked for a later attempt: ${JSON.stringify(told.away)}`);
  assert.ok((told.away["503"] ?? 0) > 0, "clients were under way");
  assert.deepEqual(told.wrong, []);
  await server.stop();
});
