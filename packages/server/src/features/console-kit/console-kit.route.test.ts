import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { forEachDatabase } from "../../testing/databases.ts";
import { startTestService, type TestService } from "../../testing/test-service.ts";

const demo = async () => ({
  organisationIds: [],
  orgId: "01a209a2-4e55-75c0-a33b-97d48347c11f",
  clientId: "01a209a2-5120-7c8e-874c-97596cf82036",
  credentialsFile: "demo.json",
});

forEachDatabase(({ name, fresh }) => {
  // Nothing of it comes from the database.
  if (name !== "sqlite") return;
  let production: TestService;
  let development: TestService;
  before(async () => {
    production = await startTestService({ databaseUrl: await fresh() });
    development = await startTestService({ databaseUrl: await fresh(), demo });
  });
  after(async () => {
    await production.close();
    await development.close();
  });

  for (const path of ["/console-kit", "/console-kit/question", "/console-kit/terminal"]) {
    test(`${path} is there in demo mode only`, async () => {
      assert.equal((await fetch(production.baseUrl + path)).status, 404);
      const page = await fetch(development.baseUrl + path);
      assert.equal(page.status, 200);
      const text = await page.text();
      const ids = [...text.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id);
      assert.equal(new Set(ids).size, ids.length, "no id twice");
      assert.doesNotMatch(text, /\sstyle=|\son[a-z]+=/);
    });
  }
});
