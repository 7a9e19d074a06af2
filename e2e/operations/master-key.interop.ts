/** The master key is replaced under load, as docs/operations.md says: nobody is refused, and no family is lost. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { freshPostgres } from "../../packages/server/src/testing/databases.ts";
import { startFleet } from "../support/fleet.ts";
import { missingProgram } from "../support/programs.ts";
import { startServer } from "../support/server-process.ts";
import { signet } from "../support/signet-command.ts";
import { type Load, makeLoadClient, startLoad } from "../support/steady-load.ts";

const LOAD = { families: 12, services: 2, newcomers: 1 };
/** Clients go on for as long after each step. */
const MORE_MS = 1_500;

const newKey = () => randomBytes(32).toString("base64url");

async function assertNobodyRefused(load: Load, refreshes: number): Promise<void> {
  const { families, away, wrong, ...told } = await load.stop();
  assert.deepEqual([away, wrong], [{}, []]);
  assert.ok(told.refreshes - refreshes >= families, "every family went on");
}

describe("the key of a server's folder", () => {
  test("is replaced twice while the server runs on SQLite", async (t) => {
    const server = await startServer({ settings: { LOG_LEVEL: "error" } });
    t.after(() => server.kill());
    const demo = await server.demo();
    const client = await makeLoadClient(demo, server.settings);
    const load = await startLoad(t, { addresses: [server.baseUrl], demo, client, ...LOAD });
    let refreshes = 0;
    for (let time = 0; time < 2; time += 1) {
      await delay(MORE_MS);
      const rotated = await signet(["master-key", "rotate"], server.settings);
      assert.deepEqual([rotated["newKey"], rotated["unreadable"]], [true, 0]);
      assert.ok(Number(rotated["renewed"]) > 0);
      refreshes = load.tally().refreshes;
    }
    await delay(MORE_MS);
    await assertNobodyRefused(load, refreshes);
    await server.stop();
  });
});

describe("the key of several servers", { skip: missingProgram("haproxy", ["-v"]) }, () => {
  test("is replaced on PostgreSQL in two rounds of restarts and a rotation", async (t) => {
    const database = await freshPostgres();
    t.after(() => database.remove());
    const [old, next] = [newKey(), newKey()];
    const fleet = await startFleet(t, { databaseUrl: database.url, settings: { SIGNET_MASTER_KEY: old } });
    const { demo, client, baseUrl } = fleet;
    const load = await startLoad(t, { addresses: [baseUrl], demo, client, ...LOAD });
    await fleet.replaceEach({ settings: { SIGNET_MASTER_KEY_PREVIOUS: next } });
    await fleet.replaceEach({ settings: { SIGNET_MASTER_KEY: next, SIGNET_MASTER_KEY_PREVIOUS: old } });
    const rotated = await signet(["master-key", "rotate"], fleet.settings());
    assert.ok(Number(rotated["renewed"]) > 0);
    assert.equal(rotated["unreadable"], 0);
    const { refreshes } = load.tally();
    await delay(MORE_MS);
    await assertNobodyRefused(load, refreshes);
    const again = await signet(["master-key", "rotate"], fleet.settings());
    assert.equal(again["renewed"], 0, "nothing was sealed under the old one meanwhile");
    await Promise.all(fleet.nodes.map((node) => node.stop()));
  });
});
