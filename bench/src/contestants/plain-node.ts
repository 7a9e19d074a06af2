/** Node as it is: plain JavaScript that says hello. What a process of Node holds at least. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { killAtEnd } from "../child.ts";

const PROGRAM = `require("node:http")
  .createServer((request, response) => response.end("hello"))
  .listen(0, "127.0.0.1", () => console.log("ready"));`;

export async function startPlainNode(): Promise<{ readonly pid: number; end(): void }> {
  const child = killAtEnd(spawn(process.execPath, ["-e", PROGRAM], { stdio: ["ignore", "pipe", "inherit"] }));
  await once(child.stdout ?? child, "data");
  return { pid: child.pid ?? 0, end: () => void child.kill() };
}
