/** Starts one of `examples/` with the command of its README, on free ports. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { managementClient } from "../../packages/client-sdk/src/management/management-client.ts";
import type { DemoExamples, DemoFile } from "../../packages/server/src/cli/demo/demo-file.ts";
import { eventually } from "../../packages/server/src/testing/eventually.ts";
import { freePort } from "../../packages/server/src/testing/free-port.ts";
import { nodeEnvironment } from "../../packages/server/src/testing/node-environment.ts";
import { guardProcess } from "../support/process-guard.ts";

export interface Example {
  /** The output on stdout and stderr so far. */
  output(): string;
  /** Waits for this output. @throws AssertionError with the output if the process ends before */
  said(what: RegExp): Promise<RegExpExecArray>;
  /** The exit code. */
  readonly ended: Promise<number | null>;
  /** Moves the clock of an example started with `hasClock` ahead. */
  putClockAhead(): Promise<void>;
  /** Sends SIGTERM; does nothing after the exit. */
  stop(): Promise<void>;
}

/** Milliseconds that `putClockAhead` adds: most of the two minutes that an access token of the demo lives. */
const AHEAD = 100_000;
const clock = `const now = Date.now; let ahead = 0; Date.now = () => now() + ahead;
process.on("SIGUSR2", () => { ahead += ${AHEAD}; console.error("The clock is ahead by", ahead); });`;

/** @param name of the file, without its ending */
export function startExample(name: string, demoFile: string, { hasClock = false } = {}): Example {
  const program = fileURLToPath(new URL(`../../examples/${name}.ts`, import.meta.url));
  const options = hasClock ? ["--import", `data:text/javascript,${encodeURIComponent(clock)}`] : [];
  const child = spawn(process.execPath, [...options, program, demoFile], {
    cwd: path.dirname(demoFile),
    env: nodeEnvironment(),
    stdio: ["ignore", "pipe", "pipe"],
  });
  guardProcess(child);
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (more: string) => {
      text += more;
    });
  let hasEnded = false;
  const ended = once(child, "close").then(([code]) => {
    hasEnded = true;
    return code as number | null;
  });
  const said = async (what: RegExp) => {
    const isPrinted = () => {
      if (hasEnded) assert.match(text, what);
      return what.test(text);
    };
    await eventually(`${name} prints ${what}`, isPrinted, 60_000);
    return what.exec(text) as RegExpExecArray;
  };
  let ahead = 0;
  return {
    output: () => text,
    said,
    ended,
    putClockAhead: async () => {
      ahead += AHEAD;
      child.kill("SIGUSR2");
      // A request may arrive before the signal.
      await said(new RegExp(`The clock is ahead by ${ahead}$`, "m"));
    },
    stop: async () => {
      child.kill();
      await ended;
    },
  };
}

/**
 * The demo with the examples at addresses of their own, so that two runs of the tests do not meet: registered at the
 * service, as an administrator does it, and written into a file beside the demo's.
 * @returns the file's path, and what is in it
 */
export async function moveExamples(
  demo: DemoFile,
  folder: string,
): Promise<{ file: string; demo: DemoFile }> {
  const { webApp, legacyApp, notesApp, saas, sovereign } = demo.examples;
  const moved = {
    ...demo.examples,
    webApp: await move(demo, webApp),
    legacyApp: await move(demo, legacyApp),
    notesApp: await move(demo, notesApp),
    saas: await move(demo, saas),
    sovereign: await move(demo, sovereign),
  } satisfies DemoExamples;
  const changed = { ...demo, examples: moved };
  const file = path.join(folder, "moved-demo.json");
  await writeFile(file, JSON.stringify(changed));
  return { file, demo: changed };
}

async function move<App extends { readonly clientId: string; readonly address: string }>(
  { baseUrl, administratorAccount: { publicKey, secretKey } }: DemoFile,
  app: App,
): Promise<App> {
  const address = `http://127.0.0.1:${await freePort()}`;
  const management = managementClient({
    federationServer: baseUrl,
    systemAccountPublicKey: publicKey,
    systemAccountSecretKey: secretKey,
  });
  const there = (text: string) => text.replace(app.address, address);
  await management.clients.update(app.clientId, (client) => ({
    ...client,
    redirectUris: client.redirectUris.map(there),
    postLogoutRedirectUris: client.postLogoutRedirectUris.map(there),
    returnUrls: client.returnUrls.map(there),
    backchannelLogoutUri: client.backchannelLogoutUri && there(client.backchannelLogoutUri),
  }));
  return { ...app, address };
}
