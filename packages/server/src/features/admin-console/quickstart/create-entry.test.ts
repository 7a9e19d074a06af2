import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { findApplication } from "../../../core/applications/applications.store.ts";
import { matchClientSecret } from "../../../core/applications/client-secrets.ts";
import { settingsOfStack } from "../../../core/stacks/stack.ts";
import { type StackName, stackNames, stackOf, stacks } from "../../../core/stacks/stacks.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import type { TestPage } from "../../../testing/fakes/browser.ts";
import { type SeededRecords, seedRecords } from "../../../testing/fixtures/planted-records.ts";
import { follow } from "../../../testing/fixtures/visit.ts";
import {
  type ConsoleBrowser,
  consoleBrowser,
  formOfPage,
  textOf,
} from "../../../testing/probes/console-browser.ts";
import { snippetOf } from "../../../testing/shown-program.ts";
import { startTestService, type TestService } from "../../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: SeededRecords;
  let console: ConsoleBrowser;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    org = await seedRecords(running.service, "Acme");
    console = await consoleBrowser(running, org);
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const formPath = (name: string) => `/quickstart/new?for=${name}`;
  async function create(name: StackName, typed: Record<string, string> = {}): Promise<TestPage> {
    return follow(console.browser, await console.send(formPath(name), { name: `My ${name}`, ...typed }));
  }
  const found = async (page: TestPage) => {
    const id = textOf(page, "client-id") ?? "";
    const application = await findApplication(running.service.database.query, org.organisation.id, id);
    assert.ok(application);
    return application;
  };

  test("the gallery links to the form of every stack, with its default address", async () => {
    const { body } = await console.get("/quickstart");
    for (const name of stackNames) assert.ok(body.includes(`id="for-${name}"`), name);
    const form = formOfPage(await console.get(formPath("grafana")));
    assert.equal(form.get("address"), "http://localhost:3000");
    assert.equal(form.get("for"), "grafana");
    assert.ok(!(await console.get(formPath("kubernetes"))).body.includes('id="address"'));
    assert.equal(formOfPage(await console.get(formPath("cobol"))).get("for"), "web");
  });

  test("creates an application with the stack's settings and shows them filled in, the secret once", async () => {
    const page = await create("spring", { address: "https://shop.example" });
    const application = await found(page);
    assert.equal(application.name, "My spring");
    const wanted = Object.entries(settingsOfStack(stacks.spring, "https://shop.example"));
    for (const [member, value] of wanted)
      assert.deepEqual({ ...application.settings }[member], value, member);
    const shown = snippetOf(page, "setup-0");
    const secret = /client-secret: (\S+)/.exec(shown)?.[1] ?? "";
    assert.ok(matchClientSecret(application, secret, Date.now()));
    for (const text of [application.id, org.issuer, "https://shop.example/login/oauth2/code/signet"])
      assert.ok(shown.includes(text), text);
    assert.ok(!page.body.includes('id="env-file"'));
    const later = await console.get(`/quickstart/${application.id}`);
    assert.ok(!later.body.includes(secret));
    assert.match(snippetOf(later, "setup-0"), /client-secret: <client secret>/);
    assert.match(later.body, /id="quickstart-secret"/);
    const other = await console.get(`/quickstart/${application.id}?for=generic`);
    assert.match(snippetOf(other, "setup-0"), /^Issuer:/);
  });

  test("creates public clients, and shows each stack's own settings again", async () => {
    const page = await create("kubernetes");
    const application = await found(page);
    assert.deepEqual([application.clientType, application.secrets], ["native", []]);
    assert.ok(application.settings.allowedScopes.includes("groups"));
    assert.match(snippetOf(page, "setup-0"), /--oidc-groups-claim=groups/);
    assert.doesNotMatch(page.body, /client secret out of version control/);
    assert.equal(application.settings.groupsClaim, "all");
    assert.equal(
      (await found(await create("react", { address: "http://localhost:5173" }))).clientType,
      "spa",
    );
  });

  test("what is printed runs where the page's link leads", async () => {
    const php = await create("php", { address: "http://localhost:8001" });
    // PHP's server answers "/" with this file alone.
    assert.deepEqual((await found(php)).settings.redirectUris, ["http://localhost:8001/index.php"]);
    assert.match(php.body, /index\.php/);
    assert.match(php.body, /client secret out of version control/);
    const dotnet = await create("dotnet", { address: "https://localhost:7001" });
    assert.equal(snippetOf(dotnet, "run"), "dotnet run --urls https://localhost:7001");
  });

  test("an application is known by the settings that its stack needs", async () => {
    for (const name of ["spring", "django", "grafana", "kubernetes", "mcp", "nextjs"] as const) {
      const application = await found(await create(name, { address: "https://app.example" }));
      assert.equal(stackOf(application), name);
      const { settings } = application;
      assert.notEqual(stackOf({ ...application, settings: { ...settings, redirectUris: [] } }), name);
    }
    assert.equal(stackOf(org.web.application), undefined);
  });

  test("reports an invalid name or address at its field and keeps what was typed", async () => {
    for (const [typed, field] of [
      [{ name: " ", address: "https://a.example" }, "name"],
      [{ name: "X", address: "https://a.example/path" }, "address"],
      [{ name: "X", address: "http://a.example" }, "address"],
    ] as const) {
      const page = await console.send(formPath("go"), typed);
      assert.equal(page.status, 400, field);
      assert.ok(page.body.includes(`id="${field}-fault"`), field);
      assert.ok(page.body.includes('value="X"') || field === "name");
    }
    const forged = await console.post("/quickstart/new", { csrf: "forged", for: "go", name: "Forged" });
    assert.equal(forged.status, 403);
  });
});
