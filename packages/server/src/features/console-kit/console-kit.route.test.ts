import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
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

  for (const path of ["", "/question", "/terminal", "/record", "/wizard"].map(
    (rest) => `/console-kit${rest}`,
  )) {
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

  test("a dialog and a save bar are seen without anybody pressing anything", async () => {
    const text = await (await fetch(`${development.baseUrl}/console-kit`)).text();
    assert.match(text, /<div class="dialog">[\s\S]*?id="d-delete"/);
    assert.match(text, /data-changed[\s\S]{0,60}3 unsaved changes[\s\S]*?id="s-discard"/);
  });
});

/** Parts of sign-in pages, of one page each, and types: no components of console pages. */
const ELSEWHERE = [
  ...["application-links.ts", "authenticator-setup.ts", "bulk.page.ts", "detail-list.ts"],
  ...["file-text.ts", "form-page.ts", "form-state.ts", "passkey-form.ts", "password-reveal.ts"],
];

test("every component is imported by the kit, or by what the kit shows", async () => {
  const folder = path.join(import.meta.dirname, "..", "..", "html", "components");
  const components = (await readdir(folder)).filter((name) => /^[^.]+(\.page)?\.ts$/.test(name));
  assert.ok(components.length > 40);
  const importsOf = async (file: string) =>
    [...(await readFile(file, "utf8")).matchAll(/from "[^"]*\/([\w-]+(?:\.page)?\.ts)"/g)].map(
      ([, name]) => name,
    );
  const own = (await readdir(import.meta.dirname)).filter((name) => name.endsWith(".ts"));
  const reached = new Set<string | undefined>(
    (await Promise.all(own.map((name) => importsOf(path.join(import.meta.dirname, name))))).flat(),
  );
  for (const name of reached)
    if (name !== undefined && components.includes(name))
      for (const next of await importsOf(path.join(folder, name))) reached.add(next);
  assert.deepEqual(components.filter((name) => !reached.has(name)).sort(), ELSEWHERE);
});
