import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { findApplication } from "../../core/applications/applications.store.ts";
import { findOrganisation } from "../../core/organisations/organisations.store.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { credentials, postForm } from "../../testing/fixtures/client.ts";
import { makeOrganisation, startTestService, type TestService } from "../../testing/test-service.ts";
import {
  observeAll,
  observingStatements,
  type StatementObserver,
  slowStatements,
} from "./statement-observer.ts";

forEachDatabase(({ fresh }) => {
  const seen: string[] = [];
  let acquired = 0;
  const observer: StatementObserver = {
    observe: async (name, run) => {
      seen.push(name);
      return run();
    },
    onAcquired: (seconds) => {
      assert.ok(seconds >= 0);
      acquired++;
    },
  };
  let running: TestService;
  before(async () => {
    const around = (dialect: Parameters<typeof observingStatements>[0]) =>
      observingStatements(dialect, observer);
    running = await startTestService({ databaseUrl: await fresh(), around });
  });
  after(() => running.close());

  test("each statement is told by its function, prepared and built ones, in a transaction and outside", async () => {
    const org = await makeOrganisation(running.service);
    seen.length = 0;
    acquired = 0;
    const form = { grant_type: "client_credentials", ...credentials(org.batch) };
    assert.equal((await postForm(`${org.issuer}/token`, form)).status, 200);
    assert.ok(seen.length > 0 && acquired > 0);
    const { query, transaction } = running.service.database;
    const { id: orgId } = org.organisation;
    seen.length = 0;
    await findOrganisation(query, orgId);
    await findApplication(query, orgId, org.web.application.id);
    await transaction(async (tx) => void (await findOrganisation(tx, orgId)));
    assert.deepEqual(seen, [
      "organisations.findOrganisation",
      "applications.findRow",
      "applications.findSecrets",
      "begin",
      "organisations.findOrganisation",
      "commit",
    ]);
  });

  test("no statement of a service's start and its first requests is of an unknown function", async () => {
    await running.service.database.ping();
    assert.deepEqual(
      [...new Set(seen)].filter((name) => !/^(begin|commit|[\w-]+\.\w+)$/.test(name)),
      [],
    );
  });

  test("a statement's failure is its caller's, and observed", async () => {
    seen.length = 0;
    await assert.rejects(sql`select nothing from nowhere`.execute(running.service.database.query));
    assert.equal(seen.length, 1);
  });
});

test("a slow statement is told, with its function and time alone; a fast one is not", async () => {
  const told: object[] = [];
  const observer = slowStatements(20, (slow) => told.push(slow));
  const pause = (ms: number) => () => new Promise((resolve) => setTimeout(resolve, ms));
  await slowStatements(600_000, (slow) => told.push(slow)).observe("a.fast", pause(0));
  await observer.observe("a.slow", pause(40));
  await assert.rejects(
    observer.observe("a.failing", async () => {
      await pause(40)();
      throw new Error("no");
    }),
  );
  assert.deepEqual(
    told.map((one) => Object.keys(one)),
    [
      ["function", "durationMs"],
      ["function", "durationMs"],
    ],
  );
  assert.deepEqual(
    told.map((one) => (one as { function: string }).function),
    ["a.slow", "a.failing"],
  );
});

test("several observers each see a statement, and none is needed", async () => {
  const seen: string[] = [];
  const one = (by: string): StatementObserver => ({
    observe: (name, run) => {
      seen.push(`${by} ${name}`);
      return run();
    },
    onAcquired: () => seen.push(`${by} acquired`),
  });
  const all = observeAll([one("a"), one("b")]);
  assert.equal(await all?.observe("x", async () => 1), 1);
  all?.onAcquired?.(0);
  assert.deepEqual(seen, ["a x", "b x", "a acquired", "b acquired"]);
  assert.equal(observeAll([]), undefined);
});
