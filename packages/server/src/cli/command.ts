/** What a command is, and how it talks to the person who types it. */
import type { ParseArgsConfig } from "node:util";
import type { Config } from "../config.ts";

export type Options = NonNullable<ParseArgsConfig["options"]>;
export type Values = Readonly<Record<string, string | boolean | Array<string | boolean> | undefined>>;

export interface Io {
  /** One line for people; with `--json` nothing but JSON is printed. */
  print(line: string): void;
  printError(line: string): void;
  /** The password typed or piped in, without echo on a terminal. */
  readSecret(question: string): Promise<string>;
}

export interface Call {
  readonly config: Config;
  readonly values: Values;
  readonly positionals: readonly string[];
  readonly io: Io;
}

export interface Command {
  /** As typed, e.g. `org create`. */
  readonly name: string;
  readonly summary: string;
  /** Positional arguments and options as shown by `--help`. */
  readonly usage: string;
  readonly options: Options;
  /** @returns the exit code */
  run(call: Call): Promise<number>;
}

/** A mistake of the person who typed the command: shown as it is, exit code 2. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UsageError";
  }
}

export function requiredText(values: Values, name: string): string {
  const value = values[name];
  if (typeof value !== "string" || value.trim() === "") throw new UsageError(`--${name} is missing`);
  return value;
}

export function optionalText(values: Values, name: string): string | undefined {
  const value = values[name];
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}
