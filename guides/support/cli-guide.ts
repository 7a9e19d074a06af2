/**
 * The guide of a command line is followed as its README says: the program prints an address, a person confirms there, and it names them;
 * started again it asks nobody, with another token; signed out, it asks again.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { stat } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { guardProcess } from "../../e2e/support/process-guard.ts";
import { systemPath } from "../../e2e/support/programs.ts";
import { makePerson } from "../../interop/clients/person.ts";
import { confirmCode } from "./device-page.ts";
import { assertClaims, assertRenewed, timeout, withGuide } from "./guide.ts";

export interface CliGuide {
  readonly name: string;
  readonly missing: string | false;
  /** Both are run in the guide's folder. */
  readonly build: string;
  readonly run: string;
}

export function followCliGuide({ name, missing, build, run }: CliGuide): void {
  const title = `guides/${name} is followed from its first command to the sign-out`;
  test(title, { skip: missing, timeout }, () =>
    withGuide({ name }, async ({ org }, { folder }) => {
      await started(folder, build).ended;
      const first = started(folder, run);
      await confirmCode(makePerson(org), await first.address);
      const facts = factsOf(await first.ended);
      assertClaims(org, facts);
      const { mode } = await stat(path.join(folder, "signet-guide.json"));
      assert.equal(mode & 0o777, 0o600);
      assertRenewed(facts, factsOf(await started(folder, run).ended));
      await started(folder, `${run} logout`).ended;
      const again = started(folder, run);
      await again.address;
      again.kill();
    }),
  );
}

const factsOf = (printed: string): Record<string, string> =>
  Object.fromEntries(
    [...printed.matchAll(/^(\w+): (.*)$/gm)].map(([, term = "", text = ""]) => [term, text]),
  );

interface Started {
  /** What it asks the person to open. */
  readonly address: Promise<string>;
  /** What it printed. @throws Error when it ended with a fault */
  readonly ended: Promise<string>;
  kill(): void;
}

function started(folder: string, command: string): Started {
  const script = `set -a; . ./.env; exec ${command}`;
  const env = { ...process.env, PATH: systemPath(), CLI_FOLDER: folder };
  const child = spawn("sh", ["-c", script], { cwd: folder, env });
  guardProcess(child);
  let printed = "";
  const address = new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (bytes: Buffer) => {
        printed += bytes.toString("utf8");
        const [found] = /http:\/\/\S+/.exec(printed) ?? [];
        if (found !== undefined) resolve(found);
      });
    child.once("exit", () => reject(new Error(`${command} asked for nothing: ${printed}`)));
  });
  // Of a program that asks for nothing nobody waits for its address.
  address.catch(() => {});
  const ended = once(child, "close").then(([code]) => {
    if (code !== 0) throw new Error(`${command} ended with ${code}: ${printed}`);
    return printed;
  });
  ended.catch(() => {});
  return { address, ended, kill: () => void child.kill("SIGKILL") };
}
