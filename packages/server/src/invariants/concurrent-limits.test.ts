// Limits per organisation hold when two nodes create the last record at the same time: the second
// waits for the first, and counts it. A record can't be deleted while it is being assigned.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { testCertificate } from "@signet/protocol/testing/test-certificate";
import { createApplication } from "../core/applications/applications.ts";
import { InvalidApplication } from "../core/applications/validation.ts";
import { listFilters } from "../core/saved-filters/saved-filters.store.ts";
import { MAX_FILTERS, saveFilter } from "../core/saved-filters/saved-filters.ts";
import { createCustomScope, MAX_SCOPES } from "../core/scopes/custom-scopes.ts";
import { listCustomScopes } from "../core/scopes/scopes.store.ts";
import { countPools } from "../core/signing-pools/signing-pool.store.ts";
import type { Database } from "../db/open.ts";
import { countRoots, insertRoot } from "../features/device-identity/ek-trust/ek-trust.store.ts";
import { importRoots, MAX_DEVICE_ROOTS } from "../features/device-identity/ek-trust/roots.ts";
import { createPool, deletePool, MAX_POOLS } from "../features/sovereign/admin-api/pools.ts";
import { forEachDatabase } from "../testing/databases.ts";
import { runConcurrently } from "../testing/fakes/in-sequence.ts";
import { makePool } from "../testing/fixtures/agent.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
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
  const database = () => running.service.database;
  const by = () => ({ orgId: org.organisation.id, actor: "test" });
  const deps = (inside: Database) => ({ ...running.service, baseUrl: running.baseUrl, database: inside });

  async function twiceAtOnce(make: (inside: Database) => Promise<unknown>): Promise<void> {
    const second = await runConcurrently(database(), make, () => make(database()));
    assert.ok(second.status === "rejected");
    assert.match(String(second.reason), /at most/);
  }

  test("rejects assigning a pool that is being deleted, and deleting a pool that is being assigned", async () => {
    const settings = (signingPoolId: string) => ({
      grantTypes: ["client_credentials"] as const,
      signingPoolId,
    });
    const give = (inside: Database, id: string) =>
      createApplication(deps(inside), {
        ...by(),
        name: "App",
        clientType: "confidential",
        settings: settings(id),
      });
    const [deleted, used] = [await makePool(running.service, org), await makePool(running.service, org)];
    const late = await runConcurrently(
      database(),
      (inside) => deletePool(deps(inside), by(), deleted.id),
      () => give(database(), deleted.id),
    );
    assert.ok(late.status === "rejected" && late.reason instanceof InvalidApplication);
    const kept = await runConcurrently(
      database(),
      (inside) => give(inside, used.id),
      () => deletePool(deps(database()), by(), used.id),
    );
    assert.deepEqual(kept, { status: "fulfilled", value: "in-use" });
  });

  test("signing pools", async () => {
    const pool = { name: "Pool", algs: ["ES256"], maxTokenLifetimeSeconds: 3600 };
    const make = (inside: Database) => createPool(deps(inside), by(), pool);
    for (let at = await countPools(database().query, by().orgId); at < MAX_POOLS - 1; at++)
      await make(database());
    await twiceAtOnce(make);
    assert.equal(await countPools(database().query, by().orgId), MAX_POOLS);
  });

  test("scopes", async () => {
    let count = 0;
    const make = (inside: Database) =>
      createCustomScope(deps(inside), {
        ...{ ...by(), name: `scope-${count++}`, displayName: "Scope", description: "" },
        ...{ claims: [], sensitive: false },
      });
    for (let at = 1; at < MAX_SCOPES; at++) await make(database());
    await twiceAtOnce(make);
    assert.equal((await listCustomScopes(database().query, by().orgId)).length, MAX_SCOPES);
  });

  test("saved filters of a list", async () => {
    const { orgId } = by();
    const save = (inside: Database) =>
      saveFilter(
        { database: inside, clock: Date.now },
        { orgId, list: "users", name: "Sign-ins", query: "" },
      );
    for (let at = 1; at < MAX_FILTERS; at++) await save(database());
    const second = await runConcurrently(database(), save, () => save(database()));
    assert.deepEqual(second, { status: "fulfilled", value: false });
    assert.equal((await listFilters(database().query, orgId)).length, MAX_FILTERS);
  });

  test("TPM root certificates", async () => {
    const { orgId } = by();
    const row = { orgId, certificate: "", subject: "", subjectHash: "", notAfter: 0, createdAt: 0 };
    await database().transaction(async (tx) => {
      for (let at = 1; at < MAX_DEVICE_ROOTS; at++)
        await insertRoot(tx, { ...row, createdBy: "test", fingerprint: `${at}` });
    });
    const make = (inside: Database) => {
      const { der } = testCertificate({ subject: "Root", isCa: true });
      const file = { name: "root.der", blocks: [{ kind: "certificate", der }] } as const;
      return importRoots({ database: inside, clock: Date.now }, by(), [file]);
    };
    await twiceAtOnce(make);
    assert.equal(await countRoots(database().query, orgId), MAX_DEVICE_ROOTS);
  });
});
