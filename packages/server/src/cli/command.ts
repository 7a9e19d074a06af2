/** What a command is, and how it talks to the person who types it. */
import type { Config } from "../config/config.ts";
import type { ServiceOptions } from "../modules/open-service.ts";

export interface Option {
  readonly type: "string" | "boolean";
  readonly multiple?: boolean;
  /** The command is not run without it. */
  readonly required?: boolean;
  /** What stands for the value in `--help`, e.g. `URI`. */
  readonly value?: string;
  /** One line for `--help`. */
  readonly help: string;
}

export type Options = Readonly<Record<string, Option>>;
export type Values = Readonly<Record<string, string | boolean | Array<string | boolean> | undefined>>;

export interface Io {
  /** One line for people; with `--json` nothing but JSON is printed. */
  print(line: string): void;
  printError(line: string): void;
  /** A new password, typed twice without echo on a terminal, or the first line of what is piped in. */
  readSecret(question: string): Promise<string>;
  /** Whether the person at the terminal types yes; undefined when there is no person. */
  confirm(question: string): Promise<boolean | undefined>;
}

export interface Call {
  readonly config: Config;
  readonly values: Values;
  readonly positionals: readonly string[];
  readonly io: Io;
  /** For tests, which look at every statement. */
  readonly around?: ServiceOptions["around"] | undefined;
}

export interface Command {
  /** As typed, e.g. `org create`. */
  readonly name: string;
  readonly summary: string;
  /** Positional arguments and options as shown by `--help`. */
  readonly usage: string;
  readonly options: Options;
  /** Most positional arguments; none when absent. */
  readonly positionals?: number;
  /** Whole command lines, for `--help`. */
  readonly examples?: readonly string[];
  /** @returns the exit code */
  run(call: Call): Promise<number>;
  /** Told of a configuration that cannot be used, in place of the usual message. @returns the exit code */
  runMisconfigured?(faults: readonly string[], call: Omit<Call, "config">): number;
}

/** A mistake of the person who typed the command: shown as it is, exit code 2. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UsageError";
  }
}

export const jsonOption: Options = {
  json: { type: "boolean", help: "print one JSON document and nothing else" },
};

export const orgOption: Options = {
  org: { type: "string", value: "ID", help: "the organisation", required: true },
};

export const appOption: Options = {
  app: { type: "string", value: "ID", help: "the application, by its client_id", required: true },
};

export function requiredText(values: Values, name: string): string {
  const value = optionalText(values, name);
  if (value === undefined) throw new UsageError(`--${name} is missing`);
  return value;
}

export function optionalText(values: Values, name: string): string | undefined {
  const value = values[name];
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}

/** The given value if it is one of the choices, whatever its case. @throws UsageError naming them */
export function choice<Choice extends string>(
  name: string,
  value: string,
  choices: readonly Choice[],
): Choice {
  const found = choices.find((one) => one.toLowerCase() === value.toLowerCase());
  if (found === undefined) throw new UsageError(`--${name} must be one of ${choices.join(", ")}`);
  return found;
}

/** A value as JSON, or else the text as it was typed. */
export function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
