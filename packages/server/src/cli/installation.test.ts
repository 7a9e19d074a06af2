import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import os from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { exportJWK, generateKeyPair } from "jose";
import { runForJson, runInProcess } from "../testing/command-line.ts";
import { freePort } from "../testing/free-port.ts";
import { startSignet } from "../testing/started-program.ts";
import { optionsOf } from "./command.ts";
import { commands } from "./run.ts";

let folder: string;
before(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "signet-installation-"));
});
after(() => rm(folder, { recursive: true, force: true }));

/** They look at one from outside, at its address. */
const ofLedgers = { "ledger verify": 2, "ledger monitor": 2 };

const id = "00000000-0000-7000-8000-000000000000";

test("no command but those that begin an installation makes a folder, a key or a database", async () => {
  const begin = ["start", "dev", "migrate"];
  const asked = commands.filter(({ name, mayBegin }) => !begin.includes(name) && !mayBegin);
  assert.ok(asked.length > 50);
  const file = path.join(folder, "organisation.json");
  await writeFile(file, '{"format":"signet-organisation/1"}');
  for (const command of asked) {
    const { name } = command;
    const dataDir = path.join(folder, name.replaceAll(" ", "-"));
    const required = Object.entries(optionsOf(command)).filter(
      ([, option]) => option.required || option.requiredWithout,
    );
    const args = [
      ...name.split(" "),
      ...required.flatMap(([option]) => [`--${option}`, option === "file" ? file : id]),
    ];
    const { code, err } = await runInProcess(args, { SIGNET_DATA_DIR: dataDir });
    // What it says without one: the settings, or that a server has to be named.
    const withoutDatabase = { "config show": 0, login: 2, logout: 2, ...ofLedgers }[name];
    assert.equal(code, withoutDatabase ?? 1, name);
    if (name !== "doctor" && withoutDatabase === undefined)
      assert.match(err, /there is no database at .*signet\.db.*SIGNET_DATA_DIR/, name);
    await runInProcess([...args, "--help"], { SIGNET_DATA_DIR: dataDir });
    await assert.rejects(stat(dataDir), name);
  }
});

test("a database without its key is told, and no other key is made", async () => {
  const dataDir = path.join(folder, "keyless");
  const env = { SIGNET_DATA_DIR: dataDir };
  await runForJson(["org", "create", "--name", "Acme"], env);
  await rm(path.join(dataDir, "master.key"));
  const { code, err } = await runInProcess(["org", "list"], env);
  assert.equal(code, 1);
  assert.match(err, /there is no master key at .*master\.key: set SIGNET_MASTER_KEY, or SIGNET_DATA_DIR/);
  assert.ok(!(await readdir(dataDir)).includes("master.key"));
});

test("commands use the base URL of the server in their data folder, unless the environment sets one", async () => {
  const env = { SIGNET_DATA_DIR: path.join(folder, "served") };
  const server = await startSignet([], env);
  try {
    const org = await runForJson<{ id: string; issuer: string }>(["org", "create", "--name", "Acme"], env);
    assert.equal(org.issuer, `${server.baseUrl}/oauth/${org.id}`);
    const create = ["app", "create", "--org", org.id, "--for", "go"];
    const app = await runForJson<{ issuer: string; setup: { lines: string }[] }>(create, env);
    assert.equal(app.issuer, org.issuer);
    assert.ok(app.setup[0]?.lines.includes(`oidc.NewProvider(ctx, "${org.issuer}")`));
    const discovery = await fetch(`${app.issuer}/.well-known/openid-configuration`);
    assert.equal(((await discovery.json()) as { issuer: string }).issuer, app.issuer);
    const set = { ...env, SIGNET_BASE_URL: "https://id.example" };
    assert.equal(
      (await runForJson<{ issuer: string }>(create, set)).issuer,
      `https://id.example/oauth/${org.id}`,
    );
  } finally {
    await server.stop();
  }
  await writeFile(path.join(env.SIGNET_DATA_DIR, "server.json"), '{"baseUrl":"not a URL"}');
  const { items } = await runForJson<{ items: { issuer: string }[] }>(["org", "list"], env);
  assert.match(items[0]?.issuer ?? "", /^http:\/\/localhost:8080\//);
});

test("commands in a demo's data folder take what the demo takes: FAPI 2.0 with redirects to loopback", async () => {
  const env = { SIGNET_DATA_DIR: path.join(folder, "demo") };
  const org = await runForJson<{ id: string }>(["org", "create", "--name", "Acme"], env);
  const jwks = path.join(folder, "jwks.json");
  const { publicKey } = await generateKeyPair("ES256", { extractable: true });
  await writeFile(
    jwks,
    JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: "1", alg: "ES256" }] }),
  );
  const create = [
    ...["app", "create", "--org", org.id, "--name", "Bank", "--type", "confidential"],
    ...["--redirect-uri", "http://127.0.0.1/callback", "--security-profile", "fapi2"],
    ...["--auth-method", "private_key_jwt", "--jwks", jwks, "--dpop-bound-access-tokens", "--json"],
  ];
  const note = path.join(env.SIGNET_DATA_DIR, "server.json");
  for (const text of [undefined, '{"baseUrl":"http://localhost:8080"}', '{"demo":"true"}']) {
    if (text !== undefined) await writeFile(note, text);
    const { code, err } = await runInProcess(create, env);
    assert.equal(code, 1);
    assert.match(err, /redirectUris\[0\]|--redirect-uri/);
  }
  await writeFile(note, '{"baseUrl":"http://localhost:8080","demo":true}');
  await runForJson(create, env);
});

test("errors name the address and the setting", async () => {
  const port = await freePort();
  const secret = "hunter2";
  const away = {
    DATABASE_URL: `postgres://signet:${secret}@127.0.0.1:${port}/signet`,
    SIGNET_DATA_DIR: folder,
  };
  const refused = await runInProcess(["org", "list"], away);
  assert.match(refused.err, new RegExp(`127\\.0\\.0\\.1:${port}/signet \\(DATABASE_URL\\): .*ECONNREFUSED`));
  assert.ok(!refused.err.includes(secret));

  const file = path.join(folder, "file");
  await writeFile(file, "");
  const blocked = await runInProcess(["org", "create", "--name", "A"], {
    SIGNET_DATA_DIR: path.join(file, "data"),
  });
  assert.match(blocked.err, /data folder .*file\/data \(SIGNET_DATA_DIR\): /);

  const broken = path.join(folder, "broken");
  await mkdir(broken, { mode: 0o700 });
  await writeFile(
    path.join(broken, "signet.db"),
    "not a database, but long enough to be read as one".repeat(20),
  );
  const noDatabase = await runInProcess(["org", "create", "--name", "A"], { SIGNET_DATA_DIR: broken });
  assert.match(
    noDatabase.err,
    /broken\/signet\.db \(SIGNET_DATA_DIR, DATABASE_URL\): file is not a database/,
  );

  const taken = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => taken.once("listening", resolve));
  const { port: busy } = taken.address() as { port: number };
  const env = { SIGNET_DATA_DIR: path.join(folder, "busy"), HOST: "127.0.0.1", PORT: String(busy) };
  const start = await runInProcess(["start"], { ...env, LOG_LEVEL: "silent" });
  taken.close();
  assert.equal(start.code, 1);
  assert.match(
    start.err,
    new RegExp(`127\\.0\\.0\\.1:${busy} \\(HOST, PORT\\) for http://localhost:${busy}: .*EADDRINUSE`),
  );
});

test("a command beside a development server says where that has its database", async () => {
  const place = path.join(folder, "beside");
  await mkdir(path.join(place, ".signet-dev"), { recursive: true });
  await writeFile(path.join(place, ".signet-dev", "signet.db"), "");
  const before = process.cwd();
  process.chdir(place);
  try {
    const { code, err } = await runInProcess(["org", "list"], {});
    assert.equal(code, 1);
    assert.match(err, /SIGNET_DATA_DIR to the folder that has it: that of signet dev is \.signet-dev/);
  } finally {
    process.chdir(before);
  }
});
