/**
 * A new version takes the place of the one before under load, one server after the other: the first one migrates while the old
 * ones serve, and nobody is refused or cut.
 */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { freshPostgres } from "../../packages/server/src/testing/databases.ts";
import { firstValue } from "../../packages/server/src/testing/postgres.ts";
import { commitBeforeNewestSchema, unpackVersion } from "../support/earlier-version.ts";
import { startFleet } from "../support/fleet.ts";
import { missingProgram } from "../support/programs.ts";
import { todaysProgram } from "../support/server-process.ts";
import { startLoad } from "../support/steady-load.ts";

const MORE_MS = 2_000;

const earlier = await commitBeforeNewestSchema();

describe("a rolling upgrade", { skip: missingProgram("haproxy", ["-v"]) }, () => {
  test("two servers of the version before this schema become today's, and nobody is refused", async (t) => {
    if (earlier === undefined) {
      // No program that could be installed: a skip would be a failure under CI=true, in a checkout that is made so.
      t.diagnostic("not tried: this clone has no history, and so no version with an earlier schema");
      return;
    }
    const folder = await mkdtemp(path.join(os.tmpdir(), "signet-earlier-"));
    t.after(() => rm(folder, { recursive: true, force: true }));
    const database = await freshPostgres();
    t.after(() => database.remove());
    const migrations = () => firstValue(database.url, "select count(*)::int from schema_migration");

    const program = await unpackVersion(earlier, folder);
    const fleet = await startFleet(t, { databaseUrl: database.url, program });
    const { demo, client, baseUrl } = fleet;
    const before = Number(await migrations());
    const load = await startLoad(t, {
      addresses: [baseUrl],
      demo,
      client,
      families: 12,
      services: 2,
      newcomers: 1,
    });
    await delay(MORE_MS);
    await fleet.replaceEach({ program: todaysProgram });
    assert.ok(Number(await migrations()) > before, "the first of today's servers has migrated");
    const { refreshes } = load.tally();
    await delay(MORE_MS);
    const told = await load.stop();
    t.diagnostic(`${earlier.slice(0, 12)}: ${told.issued.length} tokens, ${told.families} families`);
    assert.deepEqual([told.away, told.wrong], [{}, []]);
    assert.ok(told.refreshes - refreshes >= told.families, "every family went on");
    await Promise.all(fleet.nodes.map((node) => node.stop()));
  });
});
