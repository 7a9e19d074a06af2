/** What a command is, and what it meets outside. */
export interface Option {
  readonly type: "string" | "boolean";
  /** What stands for the value in `--help`. */
  readonly value?: string;
  readonly help: string;
  readonly required?: boolean;
}

export interface Io {
  print(line: string): void;
  printError(line: string): void;
  readonly clock: () => number;
  /** A person's terminal; undefined when standard input is none. */
  readonly terminal: { readonly input: NodeJS.ReadStream; readonly output: NodeJS.WriteStream } | undefined;
  /** Calls back at each of these signals, from then on in place of what the system would do. */
  onSignal(signal: "SIGTERM" | "SIGINT" | "SIGHUP", told: () => void): void;
}

export type Values = Readonly<Record<string, string | boolean | Array<string | boolean> | undefined>>;

export interface Call {
  readonly values: Values;
  readonly positionals: readonly string[];
  readonly io: Io;
}

export interface Command {
  /** As typed, e.g. `policy test`. */
  readonly name: string;
  readonly summary: string;
  readonly usage: string;
  readonly options: Readonly<Record<string, Option>>;
  readonly mostPositionals?: number;
  /** @returns the exit code */
  run(call: Call): Promise<number>;
}

/** A mistake of the person who typed the command; exit code 2. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UsageError";
  }
}

export function optionalText(values: Values, name: string): string | undefined {
  const value = values[name];
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}

export function requiredText(values: Values, name: string): string {
  const value = optionalText(values, name);
  if (value === undefined) throw new UsageError(`--${name} is missing`);
  return value;
}

export const configOption: Readonly<Record<string, Option>> = {
  config: { type: "string", value: "FILE", help: "the agent's configuration: agent.yaml when left out" },
};

export const configFile = (values: Values): string => optionalText(values, "config") ?? "agent.yaml";
