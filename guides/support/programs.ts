/** Guides of several programs: a server in front, and the application behind it. */
import { appendFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import { type RunningProgram, startProgram } from "../../interop/program.ts";
import { freePort } from "../../packages/server/src/testing/free-port.ts";
import type { GuideFolder, GuideServer } from "./guide.ts";

/** Starts `app.js` of the guide, then what stands in front of it. */
export async function startBehind(
  { folder }: GuideFolder,
  startFront: (appPort: number) => Promise<GuideServer>,
): Promise<GuideServer> {
  const appPort = await freePort();
  // The later line counts, in a shell as in Node.
  await appendFile(path.join(folder, ".env"), `APP_PORT=${appPort}\n`);
  const command = [process.execPath, "--env-file=.env", "app.js"] as const;
  const app = await startProgram("the application", command, { port: appPort, folder });
  return stopWith(app, () => startFront(appPort));
}

/** The second one, which stops both. */
export async function stopWith(
  first: Pick<RunningProgram, "output" | "stop">,
  startSecond: () => Promise<GuideServer>,
): Promise<GuideServer> {
  try {
    const second = await startSecond();
    return {
      ...second,
      output: () => `${first.output()}${second.output()}`,
      stop: () => second.stop().finally(first.stop),
    };
  } catch (error) {
    await first.stop();
    throw error;
  }
}

/** How old a session of oauth2-proxy gets before it renews its token: the least that its whole seconds tell apart. */
export const SESSION_MS = 1_000;

export const waitUntilOld = (): Promise<void> => setTimeout(2 * SESSION_MS);
