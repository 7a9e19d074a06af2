/** The program behind `signet`: what its bundle begins with, and `main.ts`. */
import { sizeThreadPool } from "../config/config.ts";
import { run } from "./run.ts";

/** @returns the exit code */
export async function runProgram(args: readonly string[]): Promise<number> {
  sizeThreadPool();
  return run(args);
}
