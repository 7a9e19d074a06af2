/** Finds the command, reads its options, and turns errors into exit codes. */
import { parseArgs } from "node:util";
import { reasonOf } from "../log.ts";
import { type Command, type Io, type Option, optionalText, UsageError } from "./command.ts";
import { enrollCommand } from "./enroll-command.ts";
import { journalVerifyCommand } from "./journal-command.ts";
import { keysCreateCommand, keysListCommand, keysRegisterCommand } from "./keys-commands.ts";
import { policyCheckCommand, policyTestCommand } from "./policy-commands.ts";
import { runAgentCommand } from "./run-command.ts";

export const commands: readonly Command[] = [
  enrollCommand,
  runAgentCommand,
  keysListCommand,
  keysCreateCommand,
  keysRegisterCommand,
  policyCheckCommand,
  policyTestCommand,
  journalVerifyCommand,
];

/** @returns the exit code: 0 done, 1 refused or failed, 2 typed wrong */
export async function runCommandLine(args: readonly string[], io: Io): Promise<number> {
  const words = args[0] === "help" ? [...args.slice(1), "--help"] : args;
  const command = commands.find(({ name }) => name.split(" ").every((word, index) => words[index] === word));
  if (!command) {
    const wantsHelp = words.length === 0 || words.includes("--help") || words.includes("-h");
    if (wantsHelp) io.print(helpOfAll());
    else io.printError(`signet-agent: there is no command "${words.join(" ")}"\nSee: signet-agent --help`);
    return wantsHelp ? 0 : 2;
  }
  try {
    return await runCommand(command, words.slice(command.name.split(" ").length), io);
  } catch (error) {
    const isTyped = error instanceof UsageError || isParseError(error);
    io.printError(`signet-agent ${command.name}: ${reasonOf(error)}`);
    if (isTyped) io.printError(`See: signet-agent ${command.name} --help`);
    return isTyped ? 2 : 1;
  }
}

async function runCommand(command: Command, args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = parseArgs({
    args: withValues(args, command.options),
    options: { ...command.options, help: { type: "boolean", short: "h" } },
    allowPositionals: true,
    strict: true,
  });
  if (values["help"]) {
    io.print(helpOf(command));
    return 0;
  }
  const missing = Object.entries(command.options).flatMap(([name, { required }]) =>
    required && optionalText(values, name) === undefined ? [`--${name} is missing`] : [],
  );
  if (missing.length > 0) throw new UsageError(missing.join(", "));
  const unexpected = positionals[command.mostPositionals ?? 0];
  if (unexpected !== undefined) throw new UsageError(`there is no place for "${unexpected}"`);
  return await command.run({ values, positionals, io });
}

/** A value may begin with a dash, as one kid in 64 does: what follows an option that wants one is its, unless it is an option. */
function withValues(args: readonly string[], options: Command["options"]): string[] {
  const nameOf = (word = "") => (word.startsWith("--") ? word.slice(2) : "");
  const isOption = (word: string) => Object.hasOwn({ ...options, help: true }, nameOf(word));
  const words: string[] = [];
  for (const word of args) {
    const last = words.at(-1);
    const wantsValue = options[nameOf(last)]?.type === "string";
    if (wantsValue && !isOption(word)) words.splice(-1, 1, `${last}=${word}`);
    else words.push(word);
  }
  return words;
}

function helpOfAll(): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  return [
    "signet-agent: holds an organisation's signing keys, sees every claim, signs what its policy allows",
    "",
    ...commands.map(({ name, summary }) => `  signet-agent ${name.padEnd(width)}  ${summary}`),
    "",
    "signet-agent COMMAND --help shows a command's options. Exit code 0: done; 1: refused or failed; 2: typed wrong.",
  ].join("\n");
}

function helpOf({ name, summary, usage, options }: Command): string {
  const rows = Object.entries(options).map(
    ([option, it]) => [`--${option}${placeholder(it)}`, it.help] as const,
  );
  const width = Math.max(0, ...rows.map(([left]) => left.length));
  return [
    `signet-agent ${name}: ${summary}`,
    "",
    `Usage: signet-agent ${name} ${usage}`,
    ...(rows.length === 0 ? [] : ["", ...rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)]),
  ].join("\n");
}

const placeholder = ({ type, value }: Option): string => (type === "boolean" ? "" : ` ${value ?? "VALUE"}`);

const isParseError = (error: unknown): boolean =>
  error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");
