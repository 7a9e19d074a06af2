import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { testCertificate } from "@signet/protocol/testing/test-certificate";
import { createOrganisation } from "../../../core/organisations/organisations.ts";
import { migrate } from "../../../db/migrate.ts";
import { type Database, openDatabase } from "../../../db/open.ts";
import { forEachDatabase } from "../../../testing/databases.ts";

import { countRoots, insertRoot, listRoots } from "./ek-trust.store.ts";
import { importRoots, MAX_DEVICE_ROOTS } from "./roots.ts";

forEachDatabase(({ fresh }) => {
  let database: Database;
  let orgId: string;
  const clock = Date.now;
  before(async () => {
    database = openDatabase(await fresh());
    await migrate(database);
    const named = { name: "Acme", actor: "test" };
    orgId = (await createOrganisation({ clock }, database.query, named)).id;
  });
  after(() => database.close());

  const newRoots = (count: number) =>
    Array.from({ length: count }, () => {
      const { der } = testCertificate({ subject: "Root", isCa: true });
      return { name: "root.der", blocks: [{ kind: "certificate", der }] } as const;
    });

  test("enforces the root limit, importing all or none", async () => {
    const row = {
      orgId,
      certificate: "",
      subject: "",
      subjectHash: "",
      notAfter: 0,
      createdAt: 0,
      createdBy: "",
    };
    await database.transaction(async (tx) => {
      for (let index = 1; index < MAX_DEVICE_ROOTS; index++)
        await insertRoot(tx, { ...row, fingerprint: `${index}` });
    });
    const by = { orgId, actor: "test" };
    await assert.rejects(importRoots({ database, clock }, by, newRoots(2)), /at most/);
    assert.equal(await countRoots(database.query, orgId), MAX_DEVICE_ROOTS - 1);
    assert.equal((await importRoots({ database, clock }, by, newRoots(1))).length, 1);
    assert.deepEqual(await listRoots(database.query, "another", { limit: 1 }), []);
  });
});
