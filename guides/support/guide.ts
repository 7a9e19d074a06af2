/**
 * A guide is followed as its README says: the commands register the application and give the person a role, the environment is
 * filled in, the program is started, and the person signs in, is named with email, roles and organisation, is still signed in after the
 * access token is renewed, and signs out.
 */
import assert from "node:assert/strict";
import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
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
import type { TestPage } from "../../packages/server/src/testing/fakes/browser.ts";
import { showsLogin } from "../../packages/server/src/testing/fixtures/visit.ts";
import { freePort } from "../../packages/server/src/testing/free-port.ts";
import type { TestOrganisation } from "../../packages/server/src/testing/test-service.ts";
import { visitInBrowser } from "./browser-visit.ts";
import { type SetUpGuide, setUpGuide } from "./set-up.ts";

export interface GuideFolder {
  /** A copy of the guide, with the `.env` file of its README. */
  readonly folder: string;
  readonly port: number;
  /** Where what stands between the application and Signet listens, in guides that have one. */
  readonly brokerPort: number;
}

export interface Guide {
  /** Its folder in guides/. */
  readonly name: string;
  /** What is not installed here; false when nothing is. */
  readonly missing: string | false;
  start(at: GuideFolder, setUp: SetUpGuide): Promise<GuideServer>;
  /** Where its README has what stands between the application and Signet: another identity provider. */
  readonly broker?: string;
  /** Default: `timeout`. */
  readonly timeoutMs?: number;
  /** It needs a browser that runs scripts. */
  readonly isInBrowser?: boolean;
  /** What else its program does for somebody who is signed in. */
  whileSignedIn?(visit: { readonly person: Person; readonly address: string }): Promise<void>;
}

export interface GuideServer extends StackServer {
  /** Lets the access token expire; without it the program has an address that renews it, `/refresh`. */
  expireToken?(): Promise<void>;
}

export const timeout = 240_000;

export function followGuide({ name, missing, start, ...guide }: Guide): void {
  const { isInBrowser = false, whileSignedIn, broker, timeoutMs = timeout } = guide;
  const title = `guides/${name} is followed from its first command to the sign-out`;
  const follow = () =>
    withGuide({ name, broker }, async (service, at, setUp) => {
      const server = await start(at, setUp);
      const address = `http://localhost:${at.port}`;
      await withServer(name, server, () =>
        isInBrowser
          ? visitByScripts(service, address)
          : visit(service, makePerson(service.org), { address, server, whileSignedIn }),
      );
    });
  test(title, { skip: missing, timeout: timeoutMs }, follow);
}

/** Signet, and a copy of the guide that is followed up to its start. */
export async function withGuide(
  { name, broker }: Pick<Guide, "name" | "broker">,
  use: (service: StackService, at: GuideFolder, setUp: SetUpGuide) => Promise<void>,
): Promise<void> {
  const service = await startStackService();
  const folder = await mkdtemp(path.join(os.tmpdir(), "signet-guide-"));
  try {
    await cp(path.join(import.meta.dirname, "..", name), folder, { recursive: true });
    const at = { folder, port: await freePort(), brokerPort: await freePort() };
    await use(service, at, await setUpGuide(service, { ...at, broker }));
  } finally {
    await service.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Stops it whatever happens. @throws Error with what the program has printed */
export async function withServer(name: string, server: StackServer, use: () => Promise<void>): Promise<void> {
  try {
    await use();
  } catch (error) {
    throw new Error(`${name}: ${server.output().slice(-4_000)}`, { cause: error });
  } finally {
    await server.stop();
  }
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
  // A link that is pressed once more, by somebody whom the application no longer knows.
  assert.ok((await person.open(renew)).status < 500, "a renewal of nobody's session");
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

export function assertClaims({ organisation, user }: TestOrganisation, { token, ...claims }: Facts): void {
  assert.match(token ?? "", /\S{8}/);
  const { email } = user;
  assert.deepEqual(claims, { name: "Uma User", email, roles: "editor", org: organisation.id });
}

export function assertRenewed(first: Facts, again: Facts): void {
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
  if (action === undefined) return confirmed(person, await person.open(linkOf(page, "sign-out")));
  return person.submit(new URL(action, page.url).href, page.hidden);
}

async function confirmed(person: Person, page: TestPage): Promise<TestPage> {
  if (!page.body.includes('id="logout-confirm"')) return page;
  const { origin, pathname } = new URL(page.url);
  const done = await person.submit(origin + pathname, page.hidden);
  const [, back = ""] = /id="to-application" href="([^"]+)"/.exec(done.body) ?? [];
  return person.open(back);
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
  await writeFile(path.join(folder, "clock.mjs"), clockProgram(offset));
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

/** A program that `node --import` runs first: the time is moved by the milliseconds in a file. */
export const clockProgram = (offset: string): string => `import { readFileSync } from "node:fs";
const { now } = Date;
Date.now = () => now() + Number(readFileSync(${JSON.stringify(offset)}, "utf8"));
`;
