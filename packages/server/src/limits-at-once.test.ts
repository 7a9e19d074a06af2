// What an organisation has at most it has at most, also when the last one is made twice at once, on two nodes: the second
// waits for the first, and counts it.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { testCertificate } from "@signet/protocol/testing/test-certificate";
import { sql } from "kysely";
import { createCustomScope, MOST_SCOPES } from "./core/scopes/custom-scopes.ts";
import { listCustomScopes } from "./core/scopes/store.ts";
import { countPools } from "./core/signing-pools/registration/store.ts";
import { boundTo, type Database } from "./db/open.ts";
import { importRoots, MOST_ROOTS } from "./features/device-identity/ek-trust/roots.ts";
import { countRoots, insertRoot } from "./features/device-identity/ek-trust/store.ts";
import { createPool, MOST_POOLS } from "./features/sovereign/pools.ts";
import { forEachDatabase } from "./testing/databases.ts";
import { eventually } from "./testing/eventually.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "./testing/test-service.ts";

forEachDatabase(({ name, fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    org = await makeOrganisation(running.service);
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });
  const db = () => running.service.database.query;
  const by = () => ({ orgId: org.organisation.id, actor: "test" });
  const deps = (database: Database) => ({ ...running.service, baseUrl: running.baseUrl, database });
  const waits = async () =>
    (await sql`select 1 from pg_locks where not granted`.execute(db())).rows.length > 0;

  async function twiceAtOnce(make: (database: Database) => Promise<unknown>): Promise<void> {
    const { database } = running.service;
    let second: Promise<unknown> | undefined;
    await database.transaction(async (tx) => {
      await make(boundTo(database, tx));
      second = assert.rejects(make(database), /at most/);
      if (name === "postgres") await eventually("the second waits for the first", waits);
    });
    await second;
  }

  test("signing pools", async () => {
    const pool = { name: "Pool", algs: ["ES256"], maxTokenLifetimeSeconds: 3600 };
    const make = (database: Database) => createPool(deps(database), by(), pool);
    for (let at = 1; at < MOST_POOLS; at++) await make(running.service.database);
    await twiceAtOnce(make);
    assert.equal(await countPools(db(), org.organisation.id), MOST_POOLS);
  });

  test("scopes", async () => {
    let count = 0;
    const make = (database: Database) =>
      createCustomScope(deps(database), {
        ...{ ...by(), name: `scope-${count++}`, displayName: "Scope", description: "" },
        ...{ claims: [], sensitive: false },
      });
    for (let at = 1; at < MOST_SCOPES; at++) await make(running.service.database);
    await twiceAtOnce(make);
    assert.equal((await listCustomScopes(db(), org.organisation.id)).length, MOST_SCOPES);
  });

  test("roots of TPMs", async () => {
    const { orgId } = by();
    const row = { orgId, certificate: "", subject: "", subjectHash: "", notAfter: 0, createdAt: 0 };
    await running.service.database.transaction(async (tx) => {
      for (let at = 1; at < MOST_ROOTS; at++)
        await insertRoot(tx, { ...row, createdBy: "test", fingerprint: `${at}` });
    });
    const make = (database: Database) => {
      const { der } = testCertificate({ subject: "Root", isCa: true });
      const file = { name: "root.der", blocks: [{ kind: "certificate", der }] } as const;
      return importRoots({ database, clock: Date.now }, by(), [file]);
    };
    await twiceAtOnce(make);
    assert.equal(await countRoots(db(), orgId), MOST_ROOTS);
  });
});
