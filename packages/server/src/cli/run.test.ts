import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { version } from "../config/version.ts";
import { collect, runInProcess, runProgram, startProgram } from "../testing/command-line.ts";

let folder: string;
let env: Record<string, string>;
before(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "signet-run-"));
  env = { SIGNET_DATA_DIR: path.join(folder, "data") };
});
after(() => rm(folder, { recursive: true, force: true }));

const unknownId = "00000000-0000-7000-8000-000000000000";

type Answer = Record<string, unknown> & { out: string };

/** Called with `--json`: ends with 0, says nothing on standard error, and one document on standard output. */
async function ended(run: typeof runInProcess, args: string[], typed = ""): Promise<Answer> {
  const { code, out, err } = await run([...args, "--json"], env, typed);
  assert.deepEqual([code, err], [0, ""], `${args.join(" ")}: ${out}`);
  return { ...(JSON.parse(out) as Record<string, unknown>), out };
}

const program = (args: string[], piped?: string) => ended(runProgram, args, piped);
/** The same inside this process, which takes a tenth of the time: enough for what the program has shown by other commands. */
const here = (args: string[], typed?: string) => ended(runInProcess, args, typed);

test("runs a whole setup on a data folder created for its owner only", async () => {
  const org = String((await program(["org", "create", "--name", "Acme"]))["id"]);
  assert.equal((await stat(path.join(folder, "data"))).mode & 0o777, 0o700);
  assert.equal((await stat(path.join(folder, "data", "master.key"))).mode & 0o777, 0o600);
  assert.ok((await here(["org", "list"])).out.includes(org));

  const person = ["--org", org, "--email", "ada@acme.example"];
  const password = "plum tractor ninety";
  const user = await program(["user", "create", ...person, "--role", "administrator"], `${password}\n`);
  assert.ok(!user.out.includes("plum"));
  const generated = String((await here(["user", "set-password", ...person, "--generate"]))["password"]);
  assert.ok(!(await here(["user", "list", "--org", org])).out.includes(generated));
  assert.ok((await here(["user", "disable", ...person]))["disabledAt"]);

  const made = ["--name", "Batch", "--type", "confidential", "--grant", "client_credentials"];
  const app = await here(["app", "create", "--org", org, ...made]);
  const client = ["--org", org, "--app", String(app["clientId"])];
  const second = await here(["secret", "create", ...client, "--label", "second", "--expires", "30"]);
  await here(["secret", "revoke", ...client, "--id", String(second["id"])]);
  const later = [
    await here(["app", "list", "--org", org]),
    await here(["app", "show", ...client]),
    await here(["app", "disable", ...client]),
  ];
  for (const { out } of later) {
    assert.ok(out.includes(String(app["clientId"])));
    for (const secret of [app["clientSecret"], second["clientSecret"]])
      assert.ok(!out.includes(String(secret)));
  }
  const key = await here(["keys", "rotate", "--org", org, "--alg", "EdDSA"]);
  assert.ok((await here(["keys", "list", "--org", org])).out.includes(String(key["kid"])));
  assert.deepEqual((await here(["migrate"]))["applied"], []);
  assert.equal((await program(["doctor"]))["ok"], true);
  assert.ok((await program(["org", "disable", org.toUpperCase()]))["disabledAt"]);
});

test("exits with 1 for an unknown ID and 2 for an invalid command line, on standard error only", async () => {
  const unknown = await runProgram(["org", "disable", unknownId, "--json"], env);
  assert.deepEqual([unknown.code, unknown.out], [1, ""]);
  assert.equal(unknown.err, `signet org disable: there is no organisation "${unknownId}"\n`);
  const wrong = await runProgram(["org", "create", "--nmae", "Acme"], env);
  assert.deepEqual([wrong.code, wrong.out], [2, ""]);
  assert.equal(wrong.err, "signet org create: Unknown option '--nmae'\nSee: signet org create --help\n");
});

test("exits with 2 for a wrong option although there is no such organisation", async () => {
  const app = ["--app", unknownId];
  for (const args of [
    ["user", "create", "--email", "ada@acme.example", "--role", "king"],
    ["user", "invite", "--email", "ada@acme.example", "--role", "king"],
    ["user", "list", "--limit", "none"],
    ["user", "disable"],
    ["user", "delete", "--id", unknownId, "--email", "ada@acme.example"],
    ["user", "set-attributes", "--email", "ada@acme.example", "--attribute", "none"],
    ["user", "set-username", "--email", "ada@acme.example", "--username", "?"],
    ["app", "create", "--name", "Shop", "--type", "car"],
    ["app", "create", "--name", "Shop", "--type", "spa", "--grant", "any"],
    ["app", "access", unknownId, "--access", "nobody"],
    ["app", "disable"],
    ["app", "show", unknownId, ...app],
    ["secret", "create", ...app, "--label", "x".repeat(101)],
    ["secret", "create", ...app, "--expires", "soon"],
    ["account", "list", "--limit", "none"],
    ["account", "rotate", unknownId, "--expire-others-in", "soon"],
    ["account", "delete"],
    ["keys", "rotate", "--alg", "none"],
    ["pool", "create", "--name", "Headquarters", "--alg", "none"],
    ["pool", "show"],
    ["agent", "list", "--limit", "none"],
    ["agent", "add-key", "--keys", "none.json"],
    ["device", "register", "--attestation", "some"],
    ["device", "register", "--expires", "soon"],
    ["device", "list", "--state", "lost"],
    ["device", "list", "--state", "active", "--codes"],
    ["device", "revoke", unknownId, "--reason", "none"],
    ["device", "withdraw-code"],
    ["device-policy", "set", "--ek-trust", "none"],
    ["device-policy", "set"],
    ["device-roots", "import"],
    ["ek-allow", "remove", "none"],
    ["scope", "create", "--name", "pay", "--display-name", "Pay", "--claim", "none"],
    ["scope", "update", "pay", "--sensitive", "--not-sensitive"],
    ["scope", "delete"],
    ["consent", "grant-organisation", ...app],
    ["consent", "list", "--limit", "none"],
    ["preauth", "delete"],
    ["org", "set", "--second-factor", "some"],
    ["org", "set"],
    ["audit", "list", "--from", "yesterday"],
    ["audit", "list", "--what", "none"],
    ["audit", "export", "--format", "csv", "--to", "tomorrow"],
  ]) {
    const { code, err } = await runInProcess([...args, "--org", unknownId], env);
    assert.equal(code, 2, `${args.join(" ")}: ${err}`);
  }
  const known = await runInProcess(["user", "disable", "--id", unknownId, "--org", unknownId], env);
  const none = `signet user disable: there is no organisation "${unknownId}"\n`;
  assert.deepEqual([known.code, known.err], [1, none]);
});

test("ends although the program that pipes in the password keeps running", async () => {
  const { id } = await here(["org", "create", "--name", "Pipes"]);
  const child = startProgram(["user", "create", "--org", String(id), "--email", "bo@acme.example"], env);
  const output = collect(child);
  child.stdin?.write("plum tractor ninety\n");
  const [code] = (await once(child, "close")) as [number | null];
  assert.equal(code, 0, output.err());
});

test("creates no data folder on an invalid command line", async () => {
  const untouched = { SIGNET_DATA_DIR: path.join(folder, "untouched") };
  for (const args of [
    ["org", "create"],
    ["user", "create", "--org", "x"],
    ["app", "show"],
    ["keys", "list", "now"],
  ])
    assert.equal((await runInProcess(args, untouched)).code, 2, args.join(" "));
  assert.ok(!(await readdir(folder)).includes("untouched"));
});

test("names all missing options at once", async () => {
  const { err } = await runInProcess(["app", "create"], env);
  assert.match(err, /--org is required, --name is required, --type is required/);
});

test("prints help for every way to ask, with exit code 0", async () => {
  for (const args of [[], ["--help"], ["-h"], ["help"]]) {
    const { code, out, err } = await runInProcess(args, env);
    assert.deepEqual([code, err], [0, ""], args.join(" "));
    assert.match(out, /^Signet: .*Usage: signet COMMAND/s);
  }
  for (const args of [
    ["org", "--help"],
    ["help", "org"],
    ["org", "-h"],
  ]) {
    const { code, out } = await runInProcess(args, env);
    assert.equal(code, 0);
    assert.match(out, /^Organisations\n {2}signet org create/);
  }
  for (const args of [
    ["org", "create", "--help"],
    ["help", "org", "create"],
    ["org", "create", "-h", "--name", "X"],
  ]) {
    const { code, out } = await runInProcess(args, env);
    assert.equal(code, 0);
    assert.match(out, /^signet org create: .*Usage: signet org create --name NAME/s);
  }
});

test("prints help with an invalid configuration", async () => {
  const { code, out } = await runInProcess(["org", "list", "--help"], { PORT: "x" });
  assert.equal(code, 0);
  assert.match(out, /^signet org list/);
});

test("tells its version, without a configuration", async () => {
  for (const word of ["--version", "-V", "version"]) {
    const { code, out, err } = await runInProcess([word], { PORT: "none" });
    assert.deepEqual([code, out, err], [0, `${version}\n`, ""]);
  }
});

test("suggests the commands of the group for an unknown command", async () => {
  const said = async (...args: string[]) => {
    const { code, out, err } = await runInProcess(args, env);
    assert.deepEqual([code, out], [2, ""]);
    return err;
  };
  assert.equal(await said("cake"), 'signet: unknown command "cake"\nSee: signet --help\n');
  assert.match(await said("cake", "--help"), /unknown command "cake"/);
  assert.match(
    await said("org"),
    /"org"; available: org create, org list, org set, org disable, org suspend, org resume, org delete, org export, org apply\nSee: signet org --help/,
  );
  assert.match(await said("org", "rename"), /"org rename"; available: org create/);
  assert.match(await said("--json", "org", "list"), /options follow the command/);
});

test("names every configuration error at once, with exit code 1", async () => {
  const faulty = { PORT: "x", DATABASE_URL: "mysql://db.example/x", LOG_LEVEL: "loud" };
  const { code, out, err } = await runInProcess(["org", "list"], faulty);
  assert.deepEqual([code, out], [1, ""]);
  for (const name of ["PORT", "DATABASE_URL", "LOG_LEVEL"])
    assert.match(err, new RegExp(`^ {2}- ${name} must`, "m"));
});
