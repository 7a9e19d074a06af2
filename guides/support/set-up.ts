/** Everything of a guide before its program is started: the commands of its README, the files that it adds, the environment. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { appendFile, mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import type { StackService } from "../../interop/clients/stack-service.ts";
import type { SetupFile } from "../../packages/server/src/core/stacks/stack.ts";
import { type Environment, runProgram } from "../../packages/server/src/testing/command-line.ts";
import { filled, filledEnvironment, type Readme, readReadme } from "./readme.ts";

/** The address in every README. */
const WRITTEN = "localhost:3000";

export interface SetUpPlace {
  /** A copy of the guide. */
  readonly folder: string;
  readonly port: number;
  /** Where the README has what stands between the application and Signet, if anything does. */
  readonly broker?: string | undefined;
  readonly brokerPort: number;
}

export interface SetUpGuide {
  readonly readme: Readme;
  /** The README's calls, with the addresses of this run. */
  readonly calls: readonly string[];
  /** What the README's names stand for: `ORG`, `APP`, `ROLE` … */
  readonly values: Readonly<Record<string, string>>;
}

export async function setUpGuide(
  { org, env }: StackService,
  { folder, port, broker, brokerPort }: SetUpPlace,
): Promise<SetUpGuide> {
  const readme = readReadme(await readFile(path.join(folder, "README.md"), "utf8"));
  const here = (text: string) => {
    const own = text.replaceAll(WRITTEN, `localhost:${port}`);
    return broker === undefined ? own : own.replaceAll(broker, broker.replace(/\d+$/, String(brokerPort)));
  };
  const values: Record<string, string> = { ORG: org.organisation.id, EMAIL: org.user.email };
  for (const command of readme.commands) {
    const line = filled(command, values).map(here);
    const printed = await runForJson(line, env);
    const setup = printed["setup"] as readonly SetupFile[] | undefined;
    if (line[0] === "app" && !isApiItself(line)) await writePrinted(folder, readme.printed, setup);
    Object.assign(values, namedBy(line, printed));
  }
  for (const { file, lines } of readme.added) await appendFile(path.join(folder, file), here(lines));
  const environment = filledEnvironment(here(readme.environment), {
    issuer: org.issuer,
    "organisation ID": org.organisation.id,
    "Signet's address": new URL(org.issuer).origin,
    "client ID": values["APP"] ?? "",
    "client secret": values["SECRET"] ?? "",
    "random text": randomBytes(32).toString("hex"),
  });
  await writeFile(path.join(folder, ".env"), `${environment}PORT=${port}\n`);
  return { readme, calls: readme.calls.map(here), values: { ...values, ISSUER: org.issuer } };
}

/** What the READMEs call what a command prints. */
function namedBy(line: readonly string[], printed: Record<string, unknown>): Record<string, string> {
  const id = String(printed["clientId"] ?? printed["id"]);
  const secret = String(printed["clientSecret"]);
  if (line[0] === "app")
    return isApiItself(line) ? { API: id, API_SECRET: secret } : { APP: id, SECRET: secret };
  return line.slice(0, 2).join(" ") === "role create" ? { ROLE: id } : {};
}

/** The application that an API is itself, to introspect tokens: nobody signs in to it. */
const isApiItself = (line: readonly string[]): boolean => line.includes("client_credentials");

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
    await mkdir(path.dirname(place), { recursive: true });
    const before = await readFile(place, "utf8").catch(() => "");
    const paragraphs = lines.split("\n\n");
    const after = before.replaceAll(/^[ \t]*\/\/=.*$/gm, () => paragraphs.shift() ?? "");
    await writeFile(place, after === before ? `${before}${lines}\n` : after);
  }
}

async function runForJson(line: readonly string[], env: Environment): Promise<Record<string, unknown>> {
  const { code, out, err } = await runProgram([...line, "--json"], env);
  if (code !== 0) throw new Error(`signet ${line.join(" ")} ended with ${code}: ${err}`);
  return JSON.parse(out) as Record<string, unknown>;
}
