/** Programs in Go that `.ci/run` builds outside the checkout, at the versions of go-programs/. */
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { guardProcess } from "../../e2e/support/process-guard.ts";
import { freePort } from "../../packages/server/src/testing/free-port.ts";
import { keptFolder } from "../kept-folder.ts";
import type { StackFiles } from "./stack-files.ts";

type GoProgram = "oauth2-proxy" | "kubelogin" | "helm" | "compose" | "dex";

const programOf = (name: GoProgram): string => path.join(keptFolder("go"), name);

/** `.ci/run` keeps what it has built of. */
export function missingGoProgram(name: GoProgram): string | false {
  const built = `${programOf(name)}.sum`;
  const wanted = readFileSync(path.join(import.meta.dirname, "go-programs", name, "go.sum"), "utf8");
  const isBuilt = existsSync(built) && readFileSync(built, "utf8") === wanted;
  return !isBuilt && `${name} is not built`;
}

/** With the printed file, and more parameters. */
export const oauth2ProxyCommand = (...more: readonly string[]): readonly [string, ...string[]] => [
  programOf("oauth2-proxy"),
  "--config=oauth2-proxy.cfg",
  ...more,
];

/** With the printed file, and what the guide adds; the secret of its application from the environment. */
export const dexCommand = [
  ...(["sh", "-c", 'set -a; . ./.env; exec "$0" serve dex.yaml'] as const),
  programOf("dex"),
] as const;

export interface Kubelogin {
  /** Where it wants the person's browser to go; undefined when it needs none. */
  readonly page: Promise<string | undefined>;
  /** The ID token of the credential that it prints. */
  idToken(): Promise<string>;
}

/** Runs it as kubectl does, with the parameters that the printed kubeconfig has. */
export async function runKubelogin({ folder }: StackFiles, ...more: readonly string[]): Promise<Kubelogin> {
  const printed = readFileSync(path.join(folder, "kubeconfig"), "utf8");
  const parameters = [...printed.matchAll(/^ {10}- (\S+)$/gm)].map(([, parameter = ""]) => parameter);
  const own = [
    "--skip-open-browser",
    `--listen-address=127.0.0.1:${await freePort()}`,
    `--token-cache-dir=${folder}`,
  ];
  // The first one is how kubectl names the program.
  const child = spawn(programOf("kubelogin"), [...parameters.slice(1), ...own, ...more]);
  guardProcess(child);
  let [told, printedOut] = ["", ""];
  child.stdout.on("data", (bytes: Buffer) => {
    printedOut += bytes.toString();
  });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const address = new Promise<string>((resolve) => {
    child.stderr.on("data", (bytes: Buffer) => {
      told += bytes.toString();
      const [found] = /http:\/\/localhost:\d+\S*/.exec(told) ?? [];
      if (found !== undefined) resolve(found);
    });
  });
  const page = Promise.race([address, ended.then(() => undefined)]);
  const idToken = async (): Promise<string> => {
    await ended;
    if (child.exitCode !== 0) throw new Error(`kubelogin ended with ${child.exitCode}: ${told}`);
    const { status } = JSON.parse(printedOut) as { status: { token: string } };
    return status.token;
  };
  return { page, idToken };
}
