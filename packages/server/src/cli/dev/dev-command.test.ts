/** `signet dev` as a developer has it: it follows its file, keeps ids and secrets, and is for this machine alone. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { guardProcess } from "../../../../../e2e/support/process-guard.ts";
import { collect, type Environment, runInProcess, startProgram } from "../../testing/command-line.ts";
import { eventually } from "../../testing/eventually.ts";
import { freePort } from "../../testing/free-port.ts";

let folder: string;
before(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "signet-dev-"));
});
after(() => rm(folder, { recursive: true, force: true }));

const document = (users: string, applications = "url: http://localhost:3000") => `organisations:
  - name: Acme
    users: [${users}]
    applications:
      - name: Web
        ${applications}
`;
const ADA = "{ email: ada@acme.example, role: Administrator }";
const BOB = "{ email: bob@acme.example, password: plum tractor ninety }";

interface Running {
  readonly baseUrl: string;
  out(): string;
  err(): string;
  says(what: RegExp): Promise<string>;
  complains(what: RegExp): Promise<void>;
  stop(): Promise<number | null>;
}

async function start(file: string, env: Environment): Promise<Running> {
  const port = await freePort();
  const child = startProgram(["dev", "--file", file, "--port", String(port)], env);
  guardProcess(child);
  const ended = once(child, "close") as Promise<[number | null]>;
  const { out, err } = collect(child);
  const says = async (what: RegExp): Promise<string> => {
    await eventually(`it says ${what}`, () => what.test(out()) || child.exitCode !== null, 60_000);
    return what.exec(out())?.[1] ?? assert.fail(`${out()}${err()}`);
  };
  return {
    ...{ baseUrl: `http://localhost:${port}`, out, err, says },
    complains: (what) => eventually(`it complains: ${what}`, () => what.test(err()), 60_000),
    stop: async () => {
      child.kill("SIGINT");
      return (await ended)[0];
    },
  };
}

test("it prints what to paste, follows its file, and keeps ids, secrets and passwords", async () => {
  const file = path.join(folder, "signet.dev.yaml");
  const env = { SIGNET_DATA_DIR: path.join(folder, "data") };
  await writeFile(file, document(ADA));
  const first = await start(file, env);
  const secret = await first.says(/SIGNET_CLIENT_SECRET=(sgn_cs_\S+)/);
  const clientId = await first.says(/SIGNET_CLIENT_ID=(\S+)/);
  const password = await first.says(/ada@acme\.example {2}(\S+)/);
  await first.says(/(Following) /);
  const issuer = await first.says(/SIGNET_ISSUER=(\S+)/);
  const grant = { grant_type: "client_credentials", client_id: clientId, client_secret: secret };
  const askToken = async () => {
    const response = await fetch(`${issuer}/token`, { method: "POST", body: new URLSearchParams(grant) });
    return ((await response.json()) as { error?: string }).error;
  };
  assert.equal(await askToken(), "unauthorized_client", "the secret is right, the grant is not allowed");

  await writeFile(file, document(`${ADA}, ${BOB}`, "grantTypes: [client_credentials]"));
  await first.says(/(Applied) /);
  await first.says(/bob@acme\.example {2}(plum tractor ninety)/);
  assert.notEqual(await askToken(), "unauthorized_client");

  await writeFile(file, "organisations:\n  - nam: Acme\n");
  await first.complains(/signet\.dev\.yaml, line 2: organisations\.0\.nam.*\. Nothing was changed\.\n/);
  await writeFile(file, document("{ email: ada@acme.example, password: short, role: Administrator }"));
  await first.complains(/signet\.dev\.yaml: .*password.* Nothing was changed\.\n/);
  assert.notEqual(await askToken(), "unauthorized_client");
  assert.equal(await first.stop(), 0);
  assert.equal((await stat(path.join(folder, "data", "dev.json"))).mode & 0o777, 0o600);
  assert.equal(await readFile(path.join(folder, "data", ".gitignore"), "utf8"), "*\n");
  const note = JSON.parse(await readFile(path.join(folder, "data", "server.json"), "utf8")) as unknown;
  assert.deepEqual(note, { baseUrl: first.baseUrl, demo: true });

  await writeFile(file, document(ADA));
  const second = await start(file, env);
  assert.equal(await second.says(/SIGNET_CLIENT_SECRET=(sgn_cs_\S+)/), secret);
  assert.equal(await second.says(/SIGNET_CLIENT_ID=(\S+)/), clientId);
  assert.equal(await second.says(/ada@acme\.example {2}(\S+)/), password);
  assert.equal(await second.stop(), 0);
});

test("it refuses what is not for this machine alone, and says why", async () => {
  const file = path.join(folder, "refused.yaml");
  await writeFile(file, document(ADA));
  const here = { SIGNET_DATA_DIR: path.join(folder, "refused") };
  for (const [env, reason] of [
    [{ HOST: "0.0.0.0" }, "HOST is 0.0.0.0"],
    [{ SIGNET_BASE_URL: "https://id.example.com" }, "SIGNET_BASE_URL is at id.example.com"],
    [{ DATABASE_URL: "postgres://db.example/signet" }, "DATABASE_URL is a server"],
    [{ TRUSTED_PROXIES: "10.0.0.0/8" }, "TRUSTED_PROXIES are set"],
  ] as const) {
    const { code, err } = await runInProcess(["dev", "--file", file], { ...here, ...env });
    assert.equal(code, 2);
    assert.ok(
      err.includes(`a development server is for this machine alone, and ${reason}: use signet start`),
      err,
    );
  }
  for (const port of ["0", "65536", "3e3", "web"]) {
    const { code, err } = await runInProcess(["dev", "--file", file, "--port", port], here);
    assert.equal(code, 2);
    assert.match(err, /--port must be a whole number from 1 to 65535/);
  }
  await assert.rejects(stat(here.SIGNET_DATA_DIR), "nothing was made");
});

test("it does not touch the organisations of a service", async () => {
  const file = path.join(folder, "other.yaml");
  await writeFile(file, document(ADA));
  const env = { SIGNET_DATA_DIR: path.join(folder, "service") };
  assert.equal((await runInProcess(["org", "create", "--name", "Live"], env)).code, 0);
  const { code, err } = await runInProcess(["dev", "--file", file], env);
  assert.equal(code, 1);
  assert.match(err, /has a service's organisations: a development server needs a folder of its own/);
  assert.match((await runInProcess(["org", "list"], env)).out, /Live/);
});

test("without a file it says how to get one, and --init writes it once", async () => {
  const file = path.join(folder, "new.yaml");
  const env = { SIGNET_DATA_DIR: path.join(folder, "none") };
  const missing = await runInProcess(["dev", "--file", file], env);
  assert.deepEqual([missing.code, /signet dev --init writes an example/.test(missing.err)], [2, true]);
  assert.equal((await runInProcess(["dev", "--init", "--file", file], env)).code, 0);
  assert.match(await readFile(file, "utf8"), /organisations:/);
  const again = await runInProcess(["dev", "--init", "--file", file], env);
  assert.deepEqual([again.code, /is there already/.test(again.err)], [2, true]);
});
