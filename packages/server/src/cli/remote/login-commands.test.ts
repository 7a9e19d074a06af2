/** An administrator signs in to the command line in a browser, and out again. */
import assert from "node:assert/strict";
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { readClientSettings } from "../../config/client-settings.ts";
import { findApplication } from "../../core/applications/applications.store.ts";
import { setApplicationStatus } from "../../core/applications/applications.ts";
import { commandLineClientId } from "../../core/applications/command-line-client.ts";
import { changeRole } from "../../core/users/member-record.ts";
import { type Environment, runForJson, runInProcess } from "../../testing/command-line.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { eventually } from "../../testing/eventually.ts";
import { testBrowser } from "../../testing/fakes/browser.ts";
import { quickPasswords } from "../../testing/fakes/quick-passwords.ts";
import { callApiV1 } from "../../testing/fixtures/api-client.ts";
import { decideDeviceCode } from "../../testing/fixtures/device.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";
import { run } from "../run.ts";
import type { StoredLogin } from "./stored-logins.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let folder: string;
  let env: Environment;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh(), passwords: quickPasswords });
    org = await makeOrganisation(running.service);
    await changeRole(running.service, {
      ...{ orgId: org.organisation.id, id: org.user.id, role: "Administrator", actor: "test" },
    });
  });
  beforeEach(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), "signet-login-"));
    env = { XDG_CONFIG_HOME: folder, DATABASE_URL: `sqlite:${folder}/nowhere/none.db` };
  });
  afterEach(() => rm(folder, { recursive: true }));
  after(() => running.close());

  const at = () => ["--server", running.baseUrl, "--org", org.organisation.id];
  const file = () => path.join(folder, "signet", "logins.json");
  const stored = async () => {
    const { logins } = JSON.parse(await readFile(file(), "utf8")) as { logins: StoredLogin[] };
    return logins;
  };
  /** The command, while somebody in a browser decides about the code that it shows. */
  async function logIn(decision: "allow" | "deny", ...more: string[]) {
    const [out, err]: [string[], string[]] = [[], []];
    const io = {
      print: (line: string) => void out.push(line),
      printError: (line: string) => void err.push(line),
      readSecret: async () => "",
      confirm: async () => undefined,
    };
    const outside = {
      io,
      readConfig: () => assert.fail(),
      readClientSettings: () => readClientSettings(env),
    };
    const ends = run(["login", ...at(), "--json", ...more], outside);
    await eventually("a code", async () => err.length > 1);
    const [userCode = ""] = /[A-Z0-9]{4}-[A-Z0-9]{4}$/.exec(err[0] ?? "") ?? [];
    await decideDeviceCode(testBrowser(), org, { userCode }, decision);
    return { code: await ends, out: out.join("\n"), err: err.join("\n") };
  }

  test("signs in, works without a token on the command line, refreshes, and signs out", async () => {
    const { code, out, err } = await logIn("allow");
    assert.equal(code, 0, err);
    assert.match(err, new RegExp(`^Open ${running.baseUrl}/oauth/\\S+ and enter \\S+\nor open `));
    const shown = JSON.parse(out) as { organisation: string; scopes: string[] };
    assert.equal(shown.organisation, org.organisation.id);
    assert.ok(shown.scopes.includes("signet:groups:write"));
    assert.equal((await stat(file())).mode & 0o777, 0o600);
    const [first] = await stored();
    assert.ok(first && !out.includes(first.accessToken) && !err.includes(first.accessToken));
    await runForJson(["group", "create", ...at(), "--name", "Accounting"], env);

    await writeFile(file(), JSON.stringify({ logins: [{ ...first, expiresAt: 0 }] }));
    await runForJson(["group", "list", ...at()], env);
    const [second] = await stored();
    assert.ok(second && second.accessToken !== first.accessToken && second.expiresAt > Date.now());
    assert.notEqual(second.refreshToken, first.refreshToken);

    await chmod(file(), 0o644);
    assert.match((await runInProcess(["group", "list", ...at()], env)).err, /others can read it: chmod 600/);
    await chmod(file(), 0o600);

    const groups = `${running.baseUrl}/api/v1/organisations/${org.organisation.id}/groups`;
    assert.equal((await callApiV1("GET", groups, second)).status, 200);
    await runForJson(["logout", ...at()], env);
    assert.equal((await callApiV1("GET", groups, second)).status, 401);
    await assert.rejects(stat(file()));
    assert.match((await runInProcess(["logout", ...at()], env)).err, /nobody is signed in/);
    assert.match((await runInProcess(["group", "list", ...at()], env)).err, /nobody is signed in/);

    // An organisation that was deleted meanwhile: its tokens ended with it.
    const orgId = crypto.randomUUID();
    const revocationEndpoint = first.revocationEndpoint.replace(org.organisation.id, orgId);
    await writeFile(file(), JSON.stringify({ logins: [{ ...first, orgId, revocationEndpoint }] }), {
      mode: 0o600,
    });
    await runForJson(["logout", ...at().slice(0, 2), "--org", orgId], env);
    await assert.rejects(stat(file()));
  });

  test("gets the scopes that are asked for alone; the application is no part of the configuration", async () => {
    const { code, err } = await logIn(
      "allow",
      "--scope",
      "signet:organisation:read",
      "--scope",
      "signet:applications:read",
    );
    assert.equal(code, 0, err);
    const exported = await runInProcess(["config", "export", ...at()], env);
    assert.equal(exported.code, 0, exported.err);
    const id = commandLineClientId(org.organisation.id);
    assert.ok(await findApplication(running.service.database.query, org.organisation.id, id));
    assert.ok(!exported.out.includes("Signet command line"));
    assert.match((await runInProcess(["group", "list", ...at()], env)).err, /signet:groups:read/);
  });

  test("keeps nothing when the sign-in is denied, or the application is disabled", async () => {
    const { code, err } = await logIn("deny");
    assert.deepEqual([code, /the sign-in was denied/.test(err)], [1, true], err);
    await assert.rejects(stat(file()));
    const key = { orgId: org.organisation.id, id: commandLineClientId(org.organisation.id), actor: "test" };
    await setApplicationStatus(running.service, { ...key, disabled: true });
    const refused = await runInProcess(["login", ...at()], env);
    assert.deepEqual([refused.code, /invalid_client/.test(refused.err)], [1, true], refused.err);
    await setApplicationStatus(running.service, { ...key, disabled: false });
  });

  test("names what is wrong with the server or the organisation", async () => {
    const server = ["--server", running.baseUrl];
    const err = async (...args: string[]) => (await runInProcess(args, env)).err;
    assert.match(await err("login", ...server, "--org", crypto.randomUUID()), /there is no organisation/);
    assert.match(await err("login", ...server), /no operators yet: name an organisation with --org/);
    assert.match(await err("login"), /--server is required/);
    const elsewhere = { ...env, SIGNET_SERVER: "http://127.0.0.1:9" };
    const both = await runInProcess(["login", ...server, "--org", crypto.randomUUID()], elsewhere);
    assert.match(both.err, /there is no organisation/, "the option wins over SIGNET_SERVER");
    assert.match(await err("login", ...at(), "--scope", "openid"), /--scope openid: is none of signet:/);
    const { port } = new URL(running.baseUrl);
    const alias = await err("login", "--server", `http://localhost:${port}`, "--org", org.organisation.id);
    assert.match(alias, /the server calls itself http:\/\/127\.0\.0\.1:\d+/);
  });
});
