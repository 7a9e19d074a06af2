/**
 * What a user gets: the built server, packed, installed into an empty folder and started from there; and from it the signing
 * agent, the device client and the SDK, by the lines of the console's pages, each in an empty folder of its own.
 */
import assert from "node:assert/strict";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import {
  installLine,
  type Program,
  type ProgramSource,
  programAddress,
} from "../../packages/server/src/page-kit/program-address.ts";
import { eventually } from "../../packages/server/src/testing/eventually.ts";
import { freePort } from "../../packages/server/src/testing/free-port.ts";
import { build } from "../../scripts/build.ts";
import {
  assertPublishable,
  assertTyped,
  differencesFromShrinkwrap,
  runCommonJsApplication,
} from "./package-checks.ts";
import { compileApplications, otherNodes, runApplications } from "./packed-sdk.ts";

const run = promisify(execFile);
// The programs' `#!/usr/bin/env node` must find the Node that runs this test.
const searchPath = `${path.dirname(process.execPath)}${path.delimiter}${process.env["PATH"]}`;

let folder: string;
let dataFolder: string;
let built: Map<string, string>;
let server: ChildProcess;
let output: { text: string };
let packedFiles: string[];
/** Of each program, as it is installed. */
let agentFiles: string[];
let deviceFiles: string[];
let sdkFiles: string[];

before(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "signet-package-"));
  // `npm test` has checked the types before.
  built = await build({ checksTypes: false });
  const [packed] = await pack(built.get("@signet/server") ?? "");
  assert.ok(packed);
  packedFiles = packed.files.map((file) => file.path);
  await npm(
    "install",
    path.join(folder, packed.filename),
    "--prefix",
    path.join(folder, "installed"),
    ...usual,
  );
  const baseUrl = await startServer();
  const source = { baseUrl, version: "0.1.0" };
  [agentFiles, deviceFiles, sdkFiles] = await Promise.all([
    installed("signing-agent", source),
    installed("device-client", source),
    installed("client-sdk", source),
  ]);
});

type Tarball = { filename: string; files: { path: string }[] };

const pack = async (dist: string): Promise<Tarball[]> =>
  JSON.parse(await npm("pack", dist, "--pack-destination", folder, "--json")) as Tarball[];

const usual = ["--prefer-offline", "--no-audit", "--no-fund"];

async function startServer(): Promise<string> {
  const program = path.join(folder, "installed", "node_modules", ".bin", "signet");
  assert.ok((await stat(program)).mode & 0o100, "executable");
  const port = await freePort();
  dataFolder = path.join(folder, "data");
  server = spawn(program, ["start"], {
    cwd: folder,
    env: { PATH: searchPath, HOME: folder, PORT: String(port), SIGNET_DATA_DIR: dataFolder },
    stdio: ["ignore", "pipe", "pipe"],
  });
  output = collectOutput(server);
  const baseUrl = `http://127.0.0.1:${port}`;
  await healthy(server, `${baseUrl}/healthz`, output);
  return baseUrl;
}

/** Where the line of the console's pages puts it, pasted in an empty folder, which stands in for the machine's own (`--prefix`). */
const placeOf = (program: Program): string =>
  path.join(folder, program, ...(program === "client-sdk" ? [] : ["lib"]), "node_modules");

/** @returns the files of the package */
async function installed(program: Program, source: ProgramSource): Promise<string[]> {
  const response = await fetch(programAddress(program, source));
  assert.equal(response.headers.get("cache-control"), "public, max-age=31536000, immutable");
  await response.body?.cancel();
  const empty = path.join(folder, program);
  await mkdir(empty);
  const line = [installLine(program, source), "--prefix", ".", ...usual].join(" ");
  await run("/bin/sh", ["-c", line], { cwd: empty, env: { ...process.env, PATH: searchPath } });
  return readdir(path.join(placeOf(program), "@signet", program), { recursive: true });
}

after(async () => {
  server?.kill("SIGKILL");
  await rm(folder, { recursive: true, force: true });
});

test("the packages hold the built programs and no sources or tests", () => {
  for (const files of [packedFiles, agentFiles, deviceFiles, sdkFiles]) {
    const entry = files === sdkFiles ? "index.js" : "main.js";
    for (const file of [entry, "LICENSE", "README.md"]) assert.ok(files.includes(file), file);
    // What others have written lies in there as they have packed it.
    const own = files.filter((file) => !/node_modules\/(?!@signet\/)/.test(file));
    const unwanted = own.filter((file) => /(?<!\.d)\.ts$|\.test\.|(^|\/)testing\/|tsconfig/.test(file));
    assert.deepEqual(unwanted, []);
  }
});

test("signet-agent runs without the server, its database and optional dependencies", async () => {
  const installed = await readdir(placeOf("signing-agent"), { recursive: true });
  const unexpected = installed.filter((file) =>
    /(^|\/)(server|fastify|kysely|pg|pkcs11js)\/package\.json$/.test(file),
  );
  assert.deepEqual(unexpected, []);
  const program = path.join(folder, "signing-agent", "bin", "signet-agent");
  const agent = (...parameters: string[]) =>
    run(program, parameters, { cwd: folder, env: { PATH: searchPath, HOME: folder } });
  assert.match((await agent("--help")).stdout, /signet-agent enroll/);
  await agent("keys", "create", "key.pem");
  assert.equal((await stat(path.join(folder, "key.pem"))).mode & 0o777, 0o600);
  await writeFile(path.join(folder, "policy.yaml"), "issuer: https://id.example\nclients: {}\n");
  assert.match((await agent("policy", "check")).stdout, /Issuer https:\/\/id\.example/);
});

test("a Node that is too old is told so in a sentence by every program", async (t) => {
  const places = {
    signet: path.join(folder, "installed", "node_modules", ".bin"),
    "signet-agent": path.join(folder, "signing-agent", "bin"),
    "signet-device": path.join(folder, "device-client", "bin"),
  };
  const pretend = path.join(folder, "pretend.cjs");
  const versions = '{ ...process.versions, node: "18.20.8" }';
  await writeFile(pretend, `Object.defineProperty(process, "versions", { value: ${versions} });`);
  const tooOld = (await otherNodes()).map((node) => [node]);
  t.diagnostic(`also by ${tooOld.join(", ") || "no older Node, as there is none"}`);
  for (const node of [[process.execPath, "--require", pretend], ...tooOld])
    for (const [name, place] of Object.entries(places)) {
      const [program = "", ...parameters] = [...node, path.join(place, name), "--help"];
      const { code, stdout, stderr } = await run(program, parameters).catch((error) => error);
      assert.match(
        stderr,
        new RegExp(`^${name}: Node 24 or newer is needed, and this is Node [\\d.]+ .*\\.\n$`),
      );
      assert.deepEqual([code, stdout], [1, ""]);
    }
});

test("signet-device runs without the server and third-party packages", async () => {
  const installed = await readdir(placeOf("device-client"), { recursive: true });
  const packages = installed.filter((file) => file.endsWith("/package.json"));
  const own = (file: string) =>
    /(^|\/)@signet\/(device-client|cli-runtime|protocol)\/package\.json$/.test(file);
  assert.deepEqual(
    packages.filter((file) => !own(file)),
    [],
  );
  const program = path.join(folder, "device-client", "bin", "signet-device");
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
  const modules = placeOf("client-sdk");
  const installed = await readdir(modules, { recursive: true });
  const packages = installed.filter((file) => /^(@[^/]+\/)?[^/@.][^/]*\/package\.json$/.test(file));
  assert.deepEqual(packages.toSorted(), ["@signet/client-sdk/package.json", "jose/package.json"]);
  for (const file of sdkFiles.filter((name) => /\.(js|d\.ts)$/.test(name) && !name.startsWith("adapters/"))) {
    const text = await readFile(path.join(modules, "@signet", "client-sdk", file), "utf8");
    assert.doesNotMatch(text, /from "(node:|@signet\/protocol)/, file);
  }
  await compileApplications(path.join(folder, "client-sdk"));
  for (const node of [process.execPath, ...(await otherNodes())]) {
    const [web, ofNode] = await runApplications(path.join(folder, "client-sdk"), node);
    assert.deepEqual(web, [200, "someone", 401, "configuration"], node);
    assert.deepEqual(ofNode, [200, "undefined", "function", "function"], node);
  }
});

const published = [
  "server",
  "client-sdk",
  "signing-agent",
  "device-client",
  "protocol",
  "testing",
  "react",
  "nextjs",
];

test("publint and attw find no fault, and a CommonJS application compiles and runs", async () => {
  const distOf = (name: string) => built.get(`@signet/${name}`) ?? "";
  await Promise.all(published.map((name) => assertPublishable(distOf(name))));
  const tarballOf = async (name: string) => path.join(folder, (await pack(distOf(name)))[0]?.filename ?? "");
  const [sdk, protocol] = [await tarballOf("client-sdk"), await tarballOf("protocol")];
  await assertTyped(sdk);
  await assertTyped(protocol, ["hash", "uuid"]);
  for (const name of ["react", "testing", "nextjs"]) await assertTyped(await tarballOf(name));
  const place = path.join(folder, "libraries");
  await mkdir(place);
  await npm("install", sdk, protocol, "--prefix", place, ...usual);
  assert.equal(await runCommonJsApplication(place), "function function 36 undefined\n");
});

test("@signet/testing starts the packed server, and its token is accepted", async () => {
  const place = path.join(folder, "testing");
  await mkdir(place);
  const [packed] = await pack(built.get("@signet/testing") ?? "");
  await npm("install", path.join(folder, packed?.filename ?? ""), "--prefix", place, ...usual);
  const program = `
    import { createTestIssuer } from "@signet/testing";
    await using issuer = await createTestIssuer({ users: [{ email: "ada@acme.example" }] });
    const headers = { authorization: "Bearer " + (await issuer.tokenFor()) };
    const userinfo = await (await fetch(issuer.issuer + "/userinfo", { headers })).json();
    console.log(userinfo.email);
  `;
  await writeFile(path.join(place, "program.mjs"), program);
  const { stdout } = await run(process.execPath, [path.join(place, "program.mjs")]);
  assert.equal(stdout, "ada@acme.example\n");
  assert.ok(!(await readdir(path.join(place, "node_modules"))).includes("react"));
});

test("a program in its folder is installed with the versions and checksums of its shrinkwrap alone", async () => {
  for (const name of ["server", "signing-agent", "device-client"]) {
    const place = path.join(folder, `unpacked-${name}`);
    await cp(built.get(`@signet/${name}`) ?? "", place, { recursive: true });
    await npm("install", "--omit=dev", "--prefix", place, "--ignore-scripts", ...usual);
    assert.deepEqual(await differencesFromShrinkwrap(place), []);
  }
});

test("each package has its bill of materials and the licences of others", async () => {
  for (const name of published) {
    const dist = built.get(`@signet/${name}`) ?? "";
    const { components, specVersion } = JSON.parse(await readFile(path.join(dist, "sbom.cdx.json"), "utf8"));
    const licences = await readFile(path.join(dist, "THIRD-PARTY-LICENCES.txt"), "utf8");
    assert.equal(specVersion, "1.6");
    for (const { group, name, version } of components as Array<Record<string, string>>)
      if (group !== "@signet")
        assert.ok(licences.includes(`${group ? `${group}/` : ""}${name} ${version}\n`));
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

test("signet start of the installed package keeps its data in its folder, and exits with 0 on SIGTERM", async () => {
  assert.ok((await readdir(dataFolder)).length > 0, "keeps its data in SIGNET_DATA_DIR");
  const ended = once(server, "exit");
  server.kill("SIGTERM");
  assert.deepEqual(await ended, [0, null], output.text);
});

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
