/**
 * What a user gets from the registry: the built server, the signing agent, the device client and the SDK, each packed,
 * installed into an empty folder of its own and started from there.
 */
import assert from "node:assert/strict";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import {
  installLine,
  type ProgramSource,
  programAddress,
} from "../../packages/server/src/page-kit/program-address.ts";
import { eventually } from "../../packages/server/src/testing/eventually.ts";
import { freePort } from "../../packages/server/src/testing/free-port.ts";
import { build } from "../../scripts/build.ts";
import { compileApplications, otherNodes, runApplications } from "./packed-sdk.ts";

const run = promisify(execFile);
// The programs' `#!/usr/bin/env node` must find the Node that runs this test.
const searchPath = `${path.dirname(process.execPath)}${path.delimiter}${process.env["PATH"]}`;

let folder: string;
let packedFiles: string[];
let agentFiles: string[];
let deviceFiles: string[];
let sdkFiles: string[];

before(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "signet-package-"));
  // `npm test` has checked the types before.
  const built = await build({ checksTypes: false });
  const packed = await pack([...built.values()]);
  const installed = async (name: string, place: string, ...options: string[]) => {
    const tarball = packed.find((one) => one.name === name);
    assert.ok(tarball, name);
    await install(tarball.filename, place, ...options);
    return tarball.files.map((file) => file.path);
  };
  // What is optional compiles for ten seconds, and the agent must do without it.
  [packedFiles, agentFiles, deviceFiles, sdkFiles] = await Promise.all([
    installed("@signet/server", "installed"),
    installed("@signet/signing-agent", "agent"),
    installed("@signet/device-client", "device"),
    installed("@signet/client-sdk", "sdk"),
  ]);
});

type Tarball = { name: string; filename: string; files: { path: string }[] };

const pack = async (dists: readonly string[]): Promise<Tarball[]> =>
  JSON.parse(await npm("pack", ...dists, "--pack-destination", folder, "--json")) as Tarball[];

async function install(tarball: string, place: string, ...options: string[]): Promise<void> {
  const usual = ["--prefer-offline", "--no-audit", "--no-fund"];
  await npm(
    "install",
    path.join(folder, tarball),
    "--prefix",
    path.join(folder, place),
    ...usual,
    ...options,
  );
}

after(() => rm(folder, { recursive: true, force: true }));

test("the packages hold the built programs and no sources or tests", () => {
  for (const files of [packedFiles, agentFiles, deviceFiles, sdkFiles]) {
    const entry = files === sdkFiles ? "index.js" : "main.js";
    for (const file of [entry, "LICENSE", "README.md"]) assert.ok(files.includes(file), file);
    const unwanted = files.filter((file) => /(?<!\.d)\.ts$|\.test\.|(^|\/)testing\/|tsconfig/.test(file));
    assert.deepEqual(unwanted, []);
  }
});

test("signet-agent runs without the server, its database and optional dependencies", async () => {
  const installed = await readdir(path.join(folder, "agent", "node_modules"), { recursive: true });
  const unexpected = installed.filter((file) =>
    /(^|\/)(server|fastify|kysely|pg|pkcs11js)\/package\.json$/.test(file),
  );
  assert.deepEqual(unexpected, []);
  const program = path.join(folder, "agent", "node_modules", ".bin", "signet-agent");
  const agent = (...parameters: string[]) =>
    run(program, parameters, { cwd: folder, env: { PATH: searchPath, HOME: folder } });
  assert.match((await agent("--help")).stdout, /signet-agent enroll/);
  await agent("keys", "create", "key.pem");
  assert.equal((await stat(path.join(folder, "key.pem"))).mode & 0o777, 0o600);
  await writeFile(path.join(folder, "policy.yaml"), "issuer: https://id.example\nclients: {}\n");
  assert.match((await agent("policy", "check")).stdout, /Issuer https:\/\/id\.example/);
});

test("signet-device runs without the server and third-party packages", async () => {
  const installed = await readdir(path.join(folder, "device", "node_modules"), { recursive: true });
  const packages = installed.filter((file) => file.endsWith("/package.json"));
  const own = (file: string) =>
    /(^|\/)@signet\/(device-client|cli-runtime|protocol)\/package\.json$/.test(file);
  assert.deepEqual(
    packages.filter((file) => !own(file)),
    [],
  );
  const program = path.join(folder, "device", "node_modules", ".bin", "signet-device");
  const device = (...parameters: string[]) =>
    run(program, parameters, { cwd: folder, env: { PATH: searchPath, HOME: folder } });
  assert.match((await device("--help")).stdout, /signet-device enroll/);
  await assert.rejects(device("status", "--state", "nothing"), { code: 5 });
  const org = ["--server", "http://127.0.0.1:9", "--org", "33333333-3333-4333-8333-333333333333"];
  await assert.rejects(device("enroll", ...org, "--state", "device-state", "--code", "8X2KQ"), { code: 6 });
  const key = path.join(folder, "device-state", "generations", "1", "key.pem");
  assert.equal((await stat(key)).mode & 0o777, 0o600);
});

test("the SDK depends on jose alone, and type-checks and runs as ESM on every installed Node from 20", async () => {
  const modules = path.join(folder, "sdk", "node_modules");
  const installed = await readdir(modules, { recursive: true });
  const packages = installed.filter((file) => /^(@[^/]+\/)?[^/@.][^/]*\/package\.json$/.test(file));
  assert.deepEqual(packages.toSorted(), ["@signet/client-sdk/package.json", "jose/package.json"]);
  for (const file of sdkFiles.filter((name) => /\.(js|d\.ts)$/.test(name) && !name.startsWith("adapters/"))) {
    const text = await readFile(path.join(modules, "@signet", "client-sdk", file), "utf8");
    assert.doesNotMatch(text, /from "(node:|@signet\/protocol)/, file);
  }
  await compileApplications(path.join(folder, "sdk"));
  for (const node of [process.execPath, ...(await otherNodes())]) {
    const [web, ofNode] = await runApplications(path.join(folder, "sdk"), node);
    assert.deepEqual(web, [200, "someone", 401, "configuration"], node);
    assert.deepEqual(ofNode, [200, "undefined", "function", "function"], node);
  }
});

test("the package contains every asset", async () => {
  const sources = path.join(import.meta.dirname, "..", "..", "packages", "server", "src");
  const entries = await readdir(sources, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && !/\.(ts|md)$/.test(entry.name));
  const assets = files.map((entry) => path.relative(sources, path.join(entry.parentPath, entry.name)));
  assert.deepEqual(
    assets.filter((asset) => !asset.startsWith("testing") && !packedFiles.includes(asset)),
    [],
  );
});

test("signet start of the installed package serves /healthz and the programs, and exits with 0 on SIGTERM", async (t) => {
  const program = path.join(folder, "installed", "node_modules", ".bin", "signet");
  assert.ok((await stat(program)).mode & 0o100, "executable");
  const port = await freePort();
  const dataFolder = path.join(folder, "data");
  const child = spawn(program, ["start"], {
    cwd: folder,
    env: { PATH: searchPath, HOME: folder, PORT: String(port), SIGNET_DATA_DIR: dataFolder },
    stdio: ["ignore", "pipe", "pipe"],
  });
  t.after(() => child.kill("SIGKILL"));
  const output = collectOutput(child);
  const ended = once(child, "exit");
  await healthy(child, `http://127.0.0.1:${port}/healthz`, output);
  assert.ok((await readdir(dataFolder)).length > 0, "keeps its data in SIGNET_DATA_DIR");
  await installsItsPrograms({ baseUrl: `http://127.0.0.1:${port}`, version: "0.1.0" });
  child.kill("SIGTERM");
  assert.deepEqual(await ended, [0, null], output.text);
});

/** The lines of the console's pages, pasted in an empty folder, which stands in for the machine's own (`--prefix`). */
async function installsItsPrograms(source: ProgramSource): Promise<void> {
  const ways = [
    [
      "client-sdk",
      `node -e 'import("@signet/client-sdk").then((sdk) => console.log(typeof sdk.createFilter))'`,
    ],
    ["signing-agent", "bin/signet-agent --help"],
    ["device-client", "bin/signet-device --help"],
  ] as const;
  for (const [program, use] of ways) {
    const response = await fetch(programAddress(program, source));
    assert.equal(response.headers.get("cache-control"), "public, max-age=31536000, immutable");
    await response.body?.cancel();
    const empty = path.join(folder, `empty-${program}`);
    await mkdir(empty);
    const lines = `${installLine(program, source)} --prefix . --prefer-offline --no-audit --no-fund && ${use}`;
    const env = { ...process.env, PATH: searchPath };
    const { stdout } = await run("/bin/sh", ["-c", lines], { cwd: empty, env });
    assert.match(stdout, program === "client-sdk" ? /^function$/m : /Usage|enroll/i, program);
  }
}

/** Waits for status 200, for a minute at most. */
async function healthy(child: ChildProcess, url: string, output: { text: string }): Promise<void> {
  const isHealthy = async () => {
    assert.equal(child.exitCode, null, `signet start ended early:\n${output.text}`);
    const response = await fetch(url).catch(() => undefined);
    return response?.status === 200;
  };
  await eventually(`${url} answers with 200`, isHealthy, 60_000);
}

function collectOutput(child: ChildProcess): { text: string } {
  const output = { text: "" };
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => {
      output.text += text;
    });
  }
  return output;
}

async function npm(...parameters: string[]): Promise<string> {
  const env = { ...process.env, PATH: searchPath };
  return (await run("npm", parameters, { cwd: folder, env, maxBuffer: 2 ** 26 })).stdout;
}
