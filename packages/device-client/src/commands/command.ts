/** What a command is, and what it meets outside. */
export interface Option {
  readonly type: "string" | "boolean";
  readonly multiple?: boolean;
  /** What stands for the value in `--help`. */
  readonly value?: string;
  readonly help: string;
  readonly required?: boolean;
}

export type Options = Readonly<Record<string, Option>>;

export interface Io {
  print(line: string): void;
  printError(line: string): void;
  readonly clock: () => number;
  readonly random: () => number;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The first line of standard input. */
  readLine(): Promise<string>;
  /** Waits, and ends early without an error when the signal aborts. */
  pause(milliseconds: number, signal?: AbortSignal): Promise<void>;
  /** Calls back at each of these signals, from then on in place of what the system would do. */
  onSignal(signal: "SIGTERM" | "SIGINT", told: () => void): void;
}

export type Values = Readonly<Record<string, string | boolean | Array<string | boolean> | undefined>>;

export interface Call {
  readonly values: Values;
  readonly io: Io;
}

export interface Command {
  readonly name: string;
  readonly summary: string;
  readonly usage: string;
  readonly options: Options;
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

/** Of an option that may be given several times. */
export const texts = (values: Values, name: string): string[] =>
  [values[name] ?? []].flat().filter((one) => typeof one === "string");
