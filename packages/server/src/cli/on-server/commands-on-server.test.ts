/** The commands that work on the database too, by a server's API. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { apiScopes } from "../../core/scopes/api-scopes.ts";
import { type Environment, runForJson, runInProcess } from "../../testing/command-line.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { quickPasswords } from "../../testing/fakes/quick-passwords.ts";
import { makeApiClient } from "../../testing/fixtures/api-client.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

interface Listed {
  readonly items: ReadonlyArray<Readonly<Record<string, unknown>>>;
}

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let env: Environment;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh(), passwords: quickPasswords });
    org = await makeOrganisation(running.service);
    const { accessToken } = await makeApiClient(running.service, org, apiScopes);
    env = {
      SIGNET_SERVER: running.baseUrl,
      SIGNET_TOKEN: accessToken,
      DATABASE_URL: "sqlite:/nowhere/none.db",
    };
  });
  after(() => running.close());

  const words = (text: string) => [...text.split(" "), "--org", org.organisation.id];
  const json = <A = Record<string, unknown>>(text: string, ...more: string[]) =>
    runForJson<A>([...words(text), ...more], env, "plum tractor ninety");
  const listed = async (text: string, ...more: string[]) => (await json<Listed>(text, ...more)).items;
  const text = async (line: string) => (await runInProcess(words(line), env)).out;

  test("users come, change and go", async () => {
    const grace = ["--email", "grace@acme.example"];
    const made = await json("user create --firstname Grace --verified", ...grace);
    assert.deepEqual([made["role"], made["emailVerified"], made["hasPassword"]], ["Standard", true, true]);
    const root = await json("user create --role administrator --email root@acme.example");
    assert.equal(root["role"], "Administrator");
    assert.match(await text("user list"), /grace@acme\.example +Grace/);
    const generated = await json("user create --generate --email lin@acme.example");
    assert.ok(String(generated["password"]).length >= 32);
    assert.equal((await json("user set-username --username grace", ...grace))["username"], "grace");
    assert.equal((await json("user set-username", ...grace))["username"], null);
    assert.equal((await json("user disable", ...grace))["state"], "disabled");
    assert.equal((await json("user disable --enable", ...grace))["state"], "active");
    for (const act of ["sign-out", "reset-factors", "set-password"])
      assert.equal((await json(`user ${act}`, "--id", String(made["id"])))["id"], made["id"], act);
    assert.deepEqual(await listed("user sessions", ...grace), []);
    assert.deepEqual(await json("user delete --yes", ...grace), { id: made["id"], deleted: true });
    const gone = await runInProcess([...words("user sign-out"), ...grace], env);
    assert.deepEqual([gone.code, /there is no user "grace@acme\.example"/.test(gone.err)], [1, true]);
    assert.equal((await runInProcess(words("user create --email a@b.example --role king"), env)).code, 2);
    assert.match(
      (await runInProcess(words("user invite --email new@acme.example"), env)).err,
      /Mail is not set up/,
    );
  });

  test("applications, secrets and assignments come, change and go", async () => {
    const made = await json(
      "app create --name Shop --type confidential --redirect-uri https://shop.example/callback",
    );
    const id = String(made["id"]);
    assert.ok(typeof made["clientSecret"] === "string" && made["enabled"] === true);
    assert.ok((await listed("app list")).some((one) => one["id"] === id));
    const changed = await json(
      `app update ${id} --name Store --access-token-lifetime 15m --audience https://shop.example`,
    );
    assert.deepEqual(
      [changed["name"], changed["accessTokenLifetimeSeconds"], changed["audience"]],
      ["Store", 900, "https://shop.example"],
    );
    assert.equal((await json(`app update ${id} --reset audience`))["audience"], null);
    assert.equal((await json(`app access ${id} --access assigned`))["access"], "assigned");
    const user = ["--email", org.user.email];
    const assigned = await json(`app assign ${id}`, ...user);
    assert.deepEqual(assigned, { permId: org.user.id, assigned: true });
    assert.equal((await json(`app unassign ${id}`, ...user))["assigned"], false);
    const secret = await json(`secret create --app ${id} --label autumn --expires 90`);
    assert.equal(secret["label"], "autumn");
    await json(`secret revoke --app ${id} --id ${String(secret["id"])}`);
    assert.equal((await json(`app disable ${id}`))["enabled"], false);
    assert.match(await text(`app show ${id}`), /^name +Store$/m);
    assert.deepEqual(await json(`app delete ${id} --yes`), { id, deleted: true });
  });

  test("scopes, consents and pre-authorizations come, change and go", async () => {
    const claim = ["--claim", "tier=static:gold"];
    const made = await json("scope create --name payroll --display-name Pay", ...claim);
    assert.deepEqual(made["claims"], [{ name: "tier", source: "static", value: "gold" }]);
    const changed = await json("scope update payroll --sensitive --no-claims");
    assert.deepEqual([changed["sensitive"], changed["claims"]], [true, []]);
    assert.deepEqual(
      (await listed("scope list")).map((one) => one["name"]),
      ["payroll"],
    );
    const app = ["--app", org.web.application.id];
    const consent = await json("consent grant-organisation --scope openid", ...app);
    assert.deepEqual(
      (await listed("consent list", ...app)).map((one) => one["id"]),
      [consent["id"]],
    );
    await json(`consent revoke ${String(consent["id"])}`);
    assert.deepEqual(await listed("consent list", ...app), []);
    const preauth = await json("preauth create --scope openid", ...app);
    assert.equal((await listed("preauth list", ...app)).length, 1);
    await json(`preauth delete ${String(preauth["id"])}`);
    await json("scope delete payroll");
    assert.match((await runInProcess(words("scope delete payroll"), env)).err, /there is no scope "payroll"/);
  });

  test("system accounts and signing keys are listed", async () => {
    assert.deepEqual(await listed("account list"), []);
    const [key] = await listed("keys list");
    assert.ok(typeof key?.["kid"] === "string" && typeof key["alg"] === "string");
    const missing = await runInProcess(words(`account show ${crypto.randomUUID()}`), env);
    assert.deepEqual([missing.code, /no such record/.test(missing.err)], [1, true]);
  });
});
