/** The demo created by `npm start`: the examples read their credentials from it instead of a secret store. */
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { DemoFile } from "../../packages/server/src/cli/demo/demo-file.ts";

/** The file named on the command line, otherwise that of the running demo. */
export const demoPath: string = process.argv[2] ?? "data/demo.json";

/** Exits with instructions if the demo doesn't exist or isn't running. */
export async function readDemo(): Promise<DemoFile> {
  try {
    const demo = JSON.parse(await readFile(demoPath, "utf8")) as DemoFile;
    if (demo.examples === undefined) throw new Error(`${demoPath} is older than the examples`);
    const response = await fetch(`${demo.baseUrl}/readyz`);
    if (response.status === 200) return demo;
    throw new Error(`${demo.baseUrl} responds with ${response.status}`);
  } catch (error) {
    const { message, cause } = error as Error;
    console.error(`The demo is not running (${cause instanceof Error ? cause.message : message}).`);
    console.error("Run `npm start` in another terminal first, then this command in the same folder.");
    process.exit(1);
  }
}

/** For `cookieSecrets`: 32 random bytes. */
export const newCookieSecret = (): string => randomBytes(32).toString("base64url");

/** The port of an application's URL. */
export const portOf = (address: string): number => Number(new URL(address).port);

/** Prints what is needed to try an example. */
export function tell(address: string, { user }: DemoFile, expect: string): void {
  console.log(`Open  ${address}/\n\n${expect}\n`);
  console.log(`Sign in as  ${user.email}   ${user.password}\nStop with Ctrl+C.`);
}
