/** Finds the command, parses its options, and turns errors into exit codes. */
import { parseArgs } from "node:util";
import {
  baseExitCodes,
  type Command,
  ExitError,
  type Io,
  type Options,
  optionalText,
  UsageError,
} from "./command.ts";
import { describeError, redact } from "./redact.ts";

export interface Program<ProgramIo extends Io = Io> {
  readonly name: string;
  readonly summary: string;
  readonly commands: readonly Command<ProgramIo>[];
  /** The last lines of `--help`. */
  readonly exitCodesHelp: string;
  /** For errors other than `ExitError`; 1 by default. */
  readonly exitCodeOf?: (error: unknown) => number;
}

export async function runCommandLine<ProgramIo extends Io>(
  program: Program<ProgramIo>,
  args: readonly string[],
  io: ProgramIo,
): Promise<number> {
  const words = args[0] === "help" ? [...args.slice(1), "--help"] : args;
  const command = program.commands.find(({ name }) =>
    name.split(" ").every((word, index) => words[index] === word),
  );
  if (!command) {
    const wantsHelp = words.length === 0 || words.includes("--help") || words.includes("-h");
    if (wantsHelp) io.print(programHelp(program));
    else
      io.printError(
        `${program.name}: unknown command "${redact(words.join(" "))}"\nSee: ${program.name} --help`,
      );
    return wantsHelp ? baseExitCodes.done : baseExitCodes.usage;
  }
  try {
    const safeIo = { ...io, printError: (line: string) => io.printError(redact(line)) };
    return await runCommand(program, command, words.slice(command.name.split(" ").length), safeIo);
  } catch (error) {
    const exitCode = exitCodeOf(program, error);
    io.printError(`${program.name} ${command.name}: ${describeError(error)}`);
    if (exitCode === baseExitCodes.usage) io.printError(`See: ${program.name} ${command.name} --help`);
    return exitCode;
  }
}

async function runCommand<ProgramIo extends Io>(
  { name }: Program<ProgramIo>,
  command: Command<ProgramIo>,
  args: readonly string[],
  io: ProgramIo,
): Promise<number> {
  const { values, positionals } = parseArgs({
    args: joinValues(args, command.options),
    options: { ...command.options, help: { type: "boolean", short: "h" } },
    allowPositionals: true,
    strict: true,
  });
  if (values["help"]) {
    io.print(commandHelp(name, command));
    return baseExitCodes.done;
  }
  const missing = Object.entries(command.options).flatMap(([option, { required }]) =>
    required && optionalText(values, option) === undefined ? [`--${option} is missing`] : [],
  );
  if (missing.length > 0) throw new UsageError(missing.join(", "));
  const unexpected = positionals[command.maxPositionals ?? 0];
  if (unexpected !== undefined) throw new UsageError(`unexpected argument "${unexpected}"`);
  return await command.run({ values, positionals, io });
}

/**
 * Joins `--option value` to `--option=value`: parseArgs refuses values that begin with a dash, and one base64url key id in 64
 * does. The word after an option that takes a value is its value, unless it is itself an option.
 */
function joinValues(args: readonly string[], options: Options): string[] {
  const optionName = (word = "") => (word.startsWith("--") ? word.slice(2) : "");
  const isOption = (word: string) => Object.hasOwn({ ...options, help: true }, optionName(word));
  const words: string[] = [];
  for (const word of args) {
    const last = words.at(-1);
    if (options[optionName(last)]?.type === "string" && !isOption(word))
      words.splice(-1, 1, `${last}=${word}`);
    else words.push(word);
  }
  return words;
}

function exitCodeOf({ exitCodeOf: own }: Pick<Program, "exitCodeOf">, error: unknown): number {
  if (error instanceof ExitError) return error.exitCode;
  const isParseError =
    error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");
  return isParseError ? baseExitCodes.usage : (own?.(error) ?? baseExitCodes.failed);
}

function programHelp<ProgramIo extends Io>(program: Program<ProgramIo>): string {
  const { name, summary, commands, exitCodesHelp } = program;
  const rows = commands.map((command) => [`${name} ${command.name}`, command.summary] as const);
  return `${name}: ${summary}\n\n${table(rows)}\n\n${name} COMMAND --help shows a command's options.\n${exitCodesHelp}`;
}

function commandHelp<ProgramIo extends Io>(program: string, command: Command<ProgramIo>): string {
  const { name, summary, usage, options } = command;
  const rows = Object.entries(options).map(([option, { type, value = "VALUE", help }]) => {
    return [`--${option}${type === "boolean" ? "" : ` ${value}`}`, help] as const;
  });
  const header = `${program} ${name}: ${summary}\n\nUsage: ${program} ${name} ${usage}`;
  return rows.length === 0 ? header : `${header}\n\n${table(rows)}`;
}

function table(rows: ReadonlyArray<readonly [left: string, right: string]>): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join("\n");
}
