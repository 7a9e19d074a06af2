/** What `npm start` has made, for the examples: they take their credentials from here instead of from a secret store. */
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { DemoFile } from "../../packages/server/src/cli/demo/demo-file.ts";

/** The file that is named on the command line, else the one of the running demo. Ends the program when there is none. */
export const demoPath: string = process.argv[2] ?? "data/demo.json";

/** @returns the demo; ends the program, with a line that says what to do, when there is none or it is not running */
export async function readDemo(): Promise<DemoFile> {
  try {
    const demo = JSON.parse(await readFile(demoPath, "utf8")) as DemoFile;
    if (demo.examples === undefined) throw new Error(`${demoPath} is older than the examples`);
    const answer = await fetch(`${demo.baseUrl}/readyz`);
    if (answer.status === 200) return demo;
    throw new Error(`${demo.baseUrl} answers ${answer.status}`);
  } catch (error) {
    const { message, cause } = error as Error;
    console.error(`The demo is not there (${cause instanceof Error ? cause.message : message}).`);
    console.error("Run `npm start` in another terminal first, and this in the same folder.");
    process.exit(1);
  }
}

/** 32 random bytes, as `cookieSecrets` wants them. */
export const newCookieSecret = (): string => randomBytes(32).toString("base64url");

/** The port that an application's address names. */
export const portOf = (address: string): number => Number(new URL(address).port);

/** What a person needs who tries an example. */
export function tell(address: string, { user }: DemoFile, expect: string): void {
  console.log(`Open  ${address}/\n\n${expect}\n`);
  console.log(`Sign in as  ${user.email}   ${user.password}\nStop with Ctrl+C.`);
}
