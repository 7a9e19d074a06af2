/** The same commands on records, on the database and by a server's API with nothing but a token. */
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { apiScopes } from "../../core/scopes/api-scopes.ts";
import {
  type Environment,
  type OperatorSettings,
  operatorSettings,
  runForJson,
  runInProcess,
} from "../../testing/command-line.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { fakeClock } from "../../testing/fakes/fake-clock.ts";
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
  readonly more: boolean;
}

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let operator: OperatorSettings;
  let org: TestOrganisation;
  let folder: string;
  const clock = fakeClock();
  before(async () => {
    const databaseUrl = await fresh();
    running = await startTestService({ databaseUrl, clock, passwords: quickPasswords });
    operator = await operatorSettings(databaseUrl);
    org = await makeOrganisation(running.service);
    folder = await mkdtemp(path.join(os.tmpdir(), "signet-remote-"));
  });
  after(async () => {
    await running.close();
    await operator.remove();
    await rm(folder, { recursive: true });
  });

  const tokenWith = async (scopes = apiScopes, of = org) =>
    (await makeApiClient(running.service, of, scopes)).accessToken;
  /** Neither a database nor a master key: those that are named are not there. */
  const withToken = (token: string): Environment => ({
    ...{ SIGNET_SERVER: running.baseUrl, SIGNET_TOKEN: token, XDG_CONFIG_HOME: folder },
    DATABASE_URL: `sqlite:${folder}/nowhere/none.db`,
  });
  const ways = async () =>
    [
      ["the database", operator.env],
      ["a server", withToken(await tokenWith())],
    ] as const;
  const ofOrg = (words: string) => [...words.split(" "), "--org", org.organisation.id];

  test("groups are made, filled, changed and deleted, by either way", async () => {
    for (const [what, env] of await ways()) {
      const json = <A = Record<string, unknown>>(...args: string[]) => runForJson<A>(args, env);
      const text = async (...args: string[]) => (await runInProcess(args, env)).out;
      const name = `Accounting of ${what}`;
      const made = await json(...ofOrg("group create"), "--name", name, "--description", "Invoices");
      const inner = await json(...ofOrg("group create"), "--name", `Inner of ${what}`);
      const id = String(made["id"]);
      assert.equal(made["displayName"], name, what);
      assert.match(
        await text(...ofOrg("group list"), "--search", "accounting"),
        new RegExp(`${id}  ${name}`),
      );
      await json(...ofOrg(`group add ${id}`), "--email", org.user.email, "--group", String(inner["id"]));
      const members = () => json<Listed>(...ofOrg(`group members ${id}`));
      assert.deepEqual((await members()).items.map((one) => one["type"]).sort(), ["group", "user"]);
      const one = await json<Listed>(...ofOrg(`group members ${id}`), "--limit", "1");
      assert.deepEqual([one.items.length, one.more], [1, true]);
      await json(...ofOrg(`group remove ${id}`), "--user", org.user.id);
      assert.equal((await members()).items.length, 1);
      const changed = await json(...ofOrg(`group update ${id}`), "--name", `${name}!`);
      assert.deepEqual([changed["displayName"], changed["description"]], [`${name}!`, "Invoices"]);
      const unsure = await runInProcess(ofOrg(`group delete ${id}`), env);
      assert.deepEqual([unsure.code, unsure.err.includes("add --yes")], [2, true], what);
      await json(...ofOrg(`group delete ${id}`), "--yes");
      const gone = await runInProcess(ofOrg(`group show ${id}`), env);
      assert.deepEqual([gone.code, gone.out], [1, ""]);
      assert.match(gone.err, /^signet group show: .*no such record/);
    }
  });

  test("roles are made, assigned, taken away and deleted, by either way", async () => {
    for (const [what, env] of await ways()) {
      const json = <A = Record<string, unknown>>(...args: string[]) => runForJson<A>(args, env);
      const key = `editor-${what.replace(" ", "-")}`;
      const app = org.web.application.id;
      const permission = ["--permission", "invoice:read", "--permission", "invoice:write"];
      const role = await json(...ofOrg("role create"), "--key", key, "--app", app, ...permission);
      assert.deepEqual(role["permissions"], ["invoice:read", "invoice:write"]);
      const id = String(role["id"]);
      const listed = await json<Listed>(...ofOrg("role list"), "--app", app);
      assert.ok(
        listed.items.some((one) => one["id"] === id) &&
          listed.items.every((one) => one["applicationId"] === app),
      );
      await json(
        ...ofOrg(`role assign ${id}`),
        "--email",
        org.user.email,
        "--client",
        org.batch.application.id,
      );
      const members = async () =>
        (await json<Listed>(...ofOrg(`role members ${id}`))).items.map((one) => one["subjectId"]).sort();
      assert.deepEqual(await members(), [org.user.id, org.batch.application.id].sort());
      const again = await runInProcess([...ofOrg(`role assign ${id}`), "--user", org.user.id], env);
      assert.deepEqual([again.code, /has this role already/.test(again.err)], [1, true]);
      await json(...ofOrg(`role unassign ${id}`), "--user", org.user.id);
      assert.deepEqual(await members(), [org.batch.application.id]);
      const twice = await runInProcess([...ofOrg(`role unassign ${id}`), "--user", org.user.id], env);
      assert.deepEqual([twice.code, /not assigned to user/.test(twice.err)], [1, true]);
      const less = await json(...ofOrg(`role update ${id}`), "--permission", "invoice:read");
      assert.deepEqual(less["permissions"], ["invoice:read"]);
      const faulty = await runInProcess([...ofOrg(`role update ${id}`), "--permission", "everything"], env);
      assert.equal(faulty.code, 1);
      assert.match(faulty.err, /\n {2}\/permissions\/0: /);
      assert.equal((await runInProcess(ofOrg(`role update ${id}`), env)).code, 2);
      await json(...ofOrg(`role delete ${id}`), "--yes");
      assert.equal((await runInProcess(ofOrg(`role members ${id}`), env)).code, 1);
    }
  });

  test("a configuration is exported, compared and applied, by either way; the second time changes nothing", async () => {
    for (const [index, [what, env]] of (await ways()).entries()) {
      const file = path.join(folder, `acme-${index}.json`);
      const args = (act: string, ...more: string[]) => [...ofOrg(`config ${act}`), "--file", file, ...more];
      const exported = await runForJson([...ofOrg("config export"), "--out", file], env);
      assert.equal(exported["file"], file);
      const printed = await runInProcess(ofOrg("config export"), env);
      assert.equal(printed.out, await readFile(file, "utf8"), what);
      assert.deepEqual(await runForJson(args("diff"), env), { upToDate: true, changes: [] });
      const wanted = JSON.parse(printed.out) as { policies: Record<string, unknown> };
      wanted.policies["passwordMinLength"] = 15 + index;
      await writeFile(file, JSON.stringify(wanted));
      const drift = await runInProcess(args("diff"), env);
      assert.deepEqual([drift.code, drift.out.includes(`→ ${15 + index}`)], [2, true], drift.out + drift.err);
      assert.equal((await runInProcess(args("apply"), env)).code, 2);
      assert.match((await runInProcess(args("apply"), env, "no")).out, /Nothing was changed\.\n$/);
      const applied = await runForJson(args("apply", "--yes"), env);
      assert.deepEqual([applied["applied"], (applied["changes"] as unknown[]).length], [true, 1]);
      const twice = await runForJson(args("apply", "--yes"), env);
      assert.deepEqual(twice, { upToDate: true, applied: false, changes: [] });
      await writeFile(file, JSON.stringify({ ...wanted, surprise: true }));
      const faulty = await runInProcess(args("diff"), env);
      assert.deepEqual([faulty.code, faulty.err.includes("surprise")], [1, true], faulty.err);
      await writeFile(file, "{");
      assert.match((await runInProcess(args("diff"), env)).err, /is not JSON/);
    }
  });

  test("a token that does not do is refused with what helps", async () => {
    const list = ofOrg("group list");
    const few = await runInProcess(list, withToken(await tokenWith(["signet:users:read"])));
    assert.deepEqual([few.code, few.out], [1, ""]);
    assert.match(few.err, /signet:groups:read/);
    const other = await makeOrganisation(running.service, "Other");
    const foreign = await runInProcess(list, withToken(await tokenWith(apiScopes, other)));
    assert.match(foreign.err, /the token is of another organisation/);
    const token = await tokenWith();
    assert.equal((await runInProcess(list, withToken(token))).code, 0);
    clock.advance(25 * 3_600_000);
    const late = await runInProcess(list, withToken(token));
    assert.deepEqual([late.code, late.err.includes("expired")], [1, true]);
    assert.ok(!late.err.includes(token));
  });

  test("the token comes from an option, a file or the environment, and goes to no plain address", async () => {
    const token = await tokenWith();
    const file = path.join(folder, "token");
    await writeFile(file, `${token}\n`);
    const nothing = { XDG_CONFIG_HOME: folder };
    const list = [...ofOrg("group list"), "--server", running.baseUrl];
    const code = async (args: string[], env: Environment = nothing) => (await runInProcess(args, env)).code;
    assert.equal(await code([...list, "--token", token]), 0);
    assert.equal(await code([...list, "--token-file", file]), 0);
    assert.equal(await code(list, { ...nothing, SIGNET_TOKEN: token }), 0);
    assert.equal(await code(list, { ...nothing, SIGNET_TOKEN_FILE: file }), 0);
    assert.equal(await code([...list, "--token", token, "--token-file", file]), 2);
    const both = { ...nothing, SIGNET_TOKEN: token, SIGNET_TOKEN_FILE: file };
    assert.equal(await code(list, both), 2);
    assert.equal(await code([...list, "--token", token], both), 0);
    assert.equal(await code([...list, "--token-file", `${file}-none`]), 1);
    assert.equal(await code(ofOrg("group list").concat("--token", token)), 2);
    const none = await runInProcess(list, nothing);
    assert.match(none.err, /nobody is signed in to .*signet login --server/);
    for (const server of ["http://id.example.com", "https://me:secret@id.example.com", "ftp://x", "x"])
      assert.equal(await code([...ofOrg("group list"), "--server", server, "--token", token]), 2, server);
    const away = await runInProcess(
      [...ofOrg("group list"), "--server", "http://127.0.0.1:1", "--token", token],
      nothing,
    );
    assert.deepEqual([away.code, /can't reach http:\/\/127\.0\.0\.1:1/.test(away.err)], [1, true], away.err);
  });
});
