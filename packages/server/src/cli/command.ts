/** The command type, its input and output, and readers for option values. */
import type { Config } from "../config/config.ts";
import type { Service, ServiceOptions } from "../modules/open-service.ts";

export interface Option {
  readonly type: "string" | "boolean";
  readonly multiple?: boolean;
  readonly required?: boolean;
  /** Placeholder for the value in `--help`, e.g. `URI`. */
  readonly value?: string;
  /** One line for `--help`. */
  readonly help: string;
}

export type Options = Readonly<Record<string, Option>>;
export type Values = Readonly<Record<string, string | boolean | Array<string | boolean> | undefined>>;

export interface Io {
  /** One line on standard output; with `--json` only JSON is printed. */
  print(line: string): void;
  printError(line: string): void;
  /** A new password: typed twice without echo on a terminal, otherwise the first line of standard input. */
  readSecret(question: string): Promise<string>;
  /** Whether the operator typed yes; undefined without a terminal. */
  confirm(question: string): Promise<boolean | undefined>;
}

export interface Call {
  readonly config: Config;
  readonly values: Values;
  readonly positionals: readonly string[];
  readonly io: Io;
  /** Lets tests observe every SQL statement. */
  readonly around?: ServiceOptions["around"] | undefined;
}

interface CommandDefinition {
  /** As typed, e.g. `org create`. */
  readonly name: string;
  readonly summary: string;
  /** Positional arguments and options as shown by `--help`. */
  readonly usage: string;
  readonly options: Options;
  /** Maximum number of positional arguments (default 0). */
  readonly positionals?: number;
  /** Whole command lines, for `--help`. */
  readonly examples?: readonly string[];
  /** Reports an invalid configuration in place of the usual message. @returns the exit code */
  runMisconfigured?(faults: readonly string[], call: Omit<Call, "config">): number;
}

/** `runWithService`: the runner opens the service and closes it afterwards. Both return the exit code. */
export type Command = CommandDefinition &
  ({ run(call: Call): Promise<number> } | { runWithService(service: Service, call: Call): Promise<number> });

/** The command line is wrong: printed as it is, exit code 2. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UsageError";
  }
}

export const jsonOption: Options = {
  json: { type: "boolean", help: "print one JSON document only" },
};

export const orgOption: Options = {
  org: { type: "string", value: "ID", help: "organisation ID", required: true },
};

export const appOption: Options = {
  app: { type: "string", value: "ID", help: "client ID of the application", required: true },
};

export const limitOption: Options = {
  limit: { type: "string", value: "COUNT", help: "maximum number of entries (default: all)" },
};

export const userOptions: Options = {
  id: { type: "string", value: "ID", help: "user ID (PermId)" },
  email: { type: "string", value: "ADDRESS", help: "user's email address" },
};

/** Arguments of a command on an organisation, on its lists, on one of its records, and on a user. */
export const orgArguments = { usage: "--org ID [--json]", options: { ...orgOption, ...jsonOption } };
export const listArguments = {
  usage: "--org ID [--limit COUNT] [--json]",
  options: { ...orgOption, ...limitOption, ...jsonOption },
};
export const recordArguments = { ...orgArguments, usage: "ID --org ID [--json]", positionals: 1 };
export const userArguments = {
  usage: "--org ID (--id ID | --email ADDRESS) [--json]",
  options: { ...orgOption, ...userOptions, ...jsonOption },
};

export function requiredText(values: Values, name: string): string {
  const value = optionalText(values, name);
  if (value === undefined) throw new UsageError(`--${name} is required`);
  return value;
}

export function optionalText(values: Values, name: string): string | undefined {
  const value = values[name];
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}

/** Matches the value against the choices, ignoring case. @throws UsageError listing them */
export function choice<Choice extends string>(
  name: string,
  value: string,
  choices: readonly Choice[],
): Choice {
  const found = choices.find((one) => one.toLowerCase() === value.toLowerCase());
  if (found === undefined) throw new UsageError(`--${name} must be one of ${choices.join(", ")}`);
  return found;
}

/** Parses the text as JSON; text that isn't JSON is returned unchanged. */
export function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
