/**
 * A guide is followed as its README says: the commands register the application and give the person a role, the environment is
 * filled in, the program is started, and the person signs in, is named with email, roles and organisation, is still signed in after the
 * access token is renewed, and signs out.
 */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { appendFile, cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { makePerson, type Person } from "../../interop/clients/person.ts";
import {
  type StackServer,
  type StackService,
  startStackService,
} from "../../interop/clients/stack-service.ts";
import { keptFolder } from "../../interop/kept-folder.ts";
import { startProgram } from "../../interop/program.ts";
import type { SetupFile } from "../../packages/server/src/core/stacks/stack.ts";
import { type Environment, runProgram } from "../../packages/server/src/testing/command-line.ts";
import type { TestPage } from "../../packages/server/src/testing/fakes/browser.ts";
import { showsLogin } from "../../packages/server/src/testing/fixtures/visit.ts";
import { freePort } from "../../packages/server/src/testing/free-port.ts";
import type { TestOrganisation } from "../../packages/server/src/testing/test-service.ts";
import { visitInBrowser } from "./browser-visit.ts";
import { filled, filledEnvironment, readReadme } from "./readme.ts";

export interface GuideFolder {
  /** A copy of the guide, with the `.env` file of its README. */
  readonly folder: string;
  readonly port: number;
}

export interface Guide {
  /** Its folder in guides/. */
  readonly name: string;
  /** What is not installed here; false when nothing is. */
  readonly missing: string | false;
  start(at: GuideFolder): Promise<GuideServer>;
  /** It needs a browser that runs scripts. */
  readonly isInBrowser?: boolean;
  /** What else its program does for somebody who is signed in. */
  whileSignedIn?(visit: { readonly person: Person; readonly address: string }): Promise<void>;
}

export interface GuideServer extends StackServer {
  /** Lets the access token expire; without it the program has an address that renews it, `/refresh`. */
  expireToken?(): Promise<void>;
}

/** The address in every README. */
const WRITTEN = "localhost:3000";
const timeout = 240_000;

export function followGuide({ name, missing, start, isInBrowser = false, whileSignedIn }: Guide): void {
  test(`guides/${name} is followed from its first command to the sign-out`, {
    skip: missing,
    timeout,
  }, async () => {
    const service = await startStackService();
    const folder = await mkdtemp(path.join(os.tmpdir(), "signet-guide-"));
    try {
      await cp(path.join(import.meta.dirname, "..", name), folder, { recursive: true });
      const port = await freePort();
      await setUp(service, folder, port);
      const server = await start({ folder, port });
      try {
        const address = `http://localhost:${port}`;
        if (isInBrowser) await visitByScripts(service, address);
        else await visit(service, makePerson(service.org), { address, server, whileSignedIn });
      } catch (error) {
        throw new Error(`${name}: ${server.output().slice(-4_000)}`, { cause: error });
      } finally {
        await server.stop();
      }
    } finally {
      await service.close();
      await rm(folder, { recursive: true, force: true });
    }
  });
}

/** Everything before the program is started. */
async function setUp({ org, env }: StackService, folder: string, port: number): Promise<void> {
  const readme = readReadme(await readFile(path.join(folder, "README.md"), "utf8"));
  const values: Record<string, string> = { ORG: org.organisation.id, EMAIL: org.user.email };
  for (const command of readme.commands) {
    const line = filled(command, values).map((word) => word.replaceAll(WRITTEN, `localhost:${port}`));
    const printed = await runForJson(line, env);
    if (line.slice(0, 2).join(" ") === "app create") {
      await writePrinted(folder, readme.printed, printed["setup"] as readonly SetupFile[] | undefined);
      Object.assign(values, {
        APP: String(printed["clientId"] ?? printed["id"]),
        secret: String(printed["clientSecret"]),
      });
    }
    if (line.slice(0, 2).join(" ") === "role create") values["ROLE"] = String(printed["id"]);
  }
  for (const { file, lines } of readme.added)
    await appendFile(path.join(folder, file), lines.replaceAll(WRITTEN, `localhost:${port}`));
  const environment = filledEnvironment(readme.environment.replaceAll(WRITTEN, `localhost:${port}`), {
    issuer: org.issuer,
    "organisation ID": org.organisation.id,
    "Signet's address": new URL(org.issuer).origin,
    "client ID": values["APP"] ?? "",
    "client secret": values["secret"] ?? "",
    "random text": randomBytes(32).toString("base64url"),
  });
  await writeFile(path.join(folder, ".env"), `${environment}PORT=${port}\n`);
}

/**
 * Every printed file goes where the README says; into one of the guide's, at its end, or its paragraphs in the places of the lines
 * that begin with `//=`.
 */
async function writePrinted(
  folder: string,
  places: ReadonlyMap<string, string>,
  setup: readonly SetupFile[] = [],
): Promise<void> {
  assert.deepEqual(
    setup.map(({ file }) => file),
    [...places.keys()],
    "the README says where each printed file goes",
  );
  for (const { file, lines } of setup) {
    const place = path.join(folder, places.get(file) ?? "");
    const before = await readFile(place, "utf8").catch(() => "");
    const paragraphs = lines.split("\n\n");
    const after = before.replaceAll(/^ *\/\/=.*$/gm, () => paragraphs.shift() ?? "");
    await writeFile(place, after === before ? `${before}${lines}\n` : after);
  }
}

async function runForJson(line: readonly string[], env: Environment): Promise<Record<string, unknown>> {
  const { code, out, err } = await runProgram([...line, "--json"], env);
  if (code !== 0) throw new Error(`signet ${line.join(" ")} ended with ${code}: ${err}`);
  return JSON.parse(out) as Record<string, unknown>;
}

type Facts = Readonly<Record<string, string>>;

/** What every guide's page tells: `<dt>email</dt><dd>…</dd>`. */
function factsOf({ url, status, body }: TestPage): Facts {
  assert.equal(status, 200, `${url}: ${body.slice(0, 2_000)}`);
  return Object.fromEntries(
    [...body.matchAll(/<dt>(\w+)<\/dt>\s*<dd>([^<]*)<\/dd>/g)].map(([, term = "", text = ""]) => [
      term,
      text.trim(),
    ]),
  );
}

interface Visit {
  readonly address: string;
  readonly server: GuideServer;
  readonly whileSignedIn: Guide["whileSignedIn"];
}

async function visit(
  { org }: StackService,
  person: Person,
  { address, server, whileSignedIn }: Visit,
): Promise<void> {
  const home = await person.open(`${address}/`);
  assert.deepEqual(factsOf(home), {}, "nobody is signed in");
  const signIn = linkOf(home, "sign-in");
  const page = await person.signIn(await person.open(signIn));
  const first = factsOf(page);
  assertClaims(org, first);
  await whileSignedIn?.({ person, address });
  await server.expireToken?.();
  const renew = findLink(page, "refresh") ?? `${address}/refresh`;
  const again = factsOf(await person.open(server.expireToken ? page.url : renew));
  assertRenewed(first, again);
  const out = await signOut(person, await person.open(page.url));
  assert.equal(out.url, `${address}/`, `back at the application: ${out.body.slice(0, 2_000)}`);
  assert.deepEqual(factsOf(out), {}, "signed out of the application");
  const back = await person.open(signIn);
  assert.ok(
    showsLogin(back),
    `not signed out of Signet: ${back.status} ${back.url} ${back.body.slice(0, 2_000)}`,
  );
}

async function visitByScripts({ org }: StackService, address: string): Promise<void> {
  const { first, again } = await visitInBrowser(address, org.user);
  assertClaims(org, first);
  assertRenewed(first, again);
}

function assertClaims({ organisation, user }: TestOrganisation, { token, ...claims }: Facts): void {
  assert.match(token ?? "", /\S{8}/);
  const { email } = user;
  assert.deepEqual(claims, { name: "Uma User", email, roles: "editor", org: organisation.id });
}

function assertRenewed(first: Facts, again: Facts): void {
  assert.deepEqual({ ...again, token: "" }, { ...first, token: "" });
  assert.notEqual(again["token"], first["token"], "the access token is another one");
}

function findLink({ url, body }: TestPage, id: string): string | undefined {
  const [, href] = new RegExp(`<a id="${id}" href="([^"]+)"`).exec(body) ?? [];
  return href === undefined ? undefined : new URL(href.replaceAll("&amp;", "&"), url).href;
}

function linkOf(page: TestPage, id: string): string {
  const link = findLink(page, id);
  if (link === undefined) throw new Error(`no link ${id} at ${page.url}: ${page.body.slice(0, 2_000)}`);
  return link;
}

/** By a form where the program has one, with its hidden fields; Signet asks where the application sends no hint of who it was. */
async function signOut(person: Person, page: TestPage): Promise<TestPage> {
  const [form = ""] = /<form [^>]*id="sign-out"[^>]*>/.exec(page.body) ?? [];
  const [, action] = / action="([^"]+)"/.exec(form) ?? [];
  if (action === undefined) return person.open(linkOf(page, "sign-out"));
  return person.submit(new URL(action, page.url).href, page.hidden);
}

const root = path.join(import.meta.dirname, "../..");

/** An access token's, unless the application is registered with another. */
export const HOUR_MS = 3_600_000;

/** A program of Node with what `.env` says, this repository's packages and the client libraries that `.ci/run` installs. */
export async function startNodeGuide(
  { folder, port }: GuideFolder,
  program = "app.js",
): Promise<GuideServer> {
  await linkPackages(folder);
  return startProgram("node", [process.execPath, "--env-file=.env", program], { port, folder });
}

/** The same with the SDK, which renews tokens by itself: its time can be moved. */
export async function startSdkGuide({ folder, port }: GuideFolder): Promise<GuideServer> {
  await linkPackages(folder);
  const offset = path.join(folder, "offset");
  await writeFile(offset, "0");
  await writeFile(path.join(folder, "clock.mjs"), clock(offset));
  const command = ["--env-file=.env", "--import=./clock.mjs", "app.js"];
  const server = await startProgram("node", [process.execPath, ...command], { port, folder });
  return { ...server, expireToken: () => writeFile(offset, String(HOUR_MS)) };
}

/** As `npm install` would in that folder. */
async function linkPackages(folder: string): Promise<void> {
  const modules = path.join(folder, "node_modules");
  await mkdir(modules);
  for (const from of [path.join(root, "node_modules"), path.join(keptFolder("npm"), "node_modules")])
    for (const name of await readdir(from).catch(() => []))
      await symlink(path.join(from, name), path.join(modules, name)).catch(ifThere);
}

function ifThere(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
}

const clock = (offset: string): string => `import { readFileSync } from "node:fs";
const { now } = Date;
Date.now = () => now() + Number(readFileSync(${JSON.stringify(offset)}, "utf8"));
`;
