/** The parts of a command-line program: commands, their options, and the errors that decide its exit code. */

export interface Option {
  readonly type: "string" | "boolean";
  readonly multiple?: boolean;
  /** Placeholder for the value in `--help`. */
  readonly value?: string;
  readonly help: string;
  readonly required?: boolean;
}

export const textOption = (
  value: string,
  help: string,
  more: Pick<Option, "multiple" | "required"> = {},
): Option => ({ type: "string", value, help, ...more });
export const flag = (help: string): Option => ({ type: "boolean", help });

export type Options = Readonly<Record<string, Option>>;
export type Values = Readonly<Record<string, string | boolean | Array<string | boolean> | undefined>>;

export interface Io {
  print(line: string): void;
  printError(line: string): void;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Replaces the signal's default action. */
  onSignal(signal: NodeJS.Signals, listener: () => void): void;
}

export interface Call<ProgramIo extends Io = Io> {
  readonly values: Values;
  readonly positionals: readonly string[];
  readonly io: ProgramIo;
}

export interface Command<ProgramIo extends Io = Io> {
  /** One word or two, e.g. `policy test`. */
  readonly name: string;
  readonly summary: string;
  readonly usage: string;
  readonly options: Options;
  readonly maxPositionals?: number;
  /** @returns the exit code */
  run(call: Call<ProgramIo>): Promise<number>;
}

export const baseExitCodes = { done: 0, failed: 1, usage: 2 } as const;

export class ExitError extends Error {
  override name = "ExitError";
  readonly exitCode: number;

  constructor(exitCode: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

/** The command line, or a setting, is wrong. */
export class UsageError extends ExitError {
  override name = "UsageError";

  constructor(message: string) {
    super(baseExitCodes.usage, message);
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

export const repeatedTexts = (values: Values, name: string): string[] =>
  [values[name] ?? []].flat().filter((value) => typeof value === "string");

export function standardIo(): Io {
  const { stdout, stderr } = process;
  // The reader of the log has gone away: the program carries on.
  for (const stream of [stdout, stderr]) stream.on("error", () => {});
  return {
    print: (line) => void stdout.write(`${line}\n`),
    printError: (line) => void stderr.write(`${line}\n`),
    clock: Date.now,
    onSignal: (signal, listener) => void process.on(signal, listener),
  };
}
