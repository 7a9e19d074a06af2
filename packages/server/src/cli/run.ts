/** Finds the command, reads its options and the configuration, and turns errors into exit codes. */
import { parseArgs } from "node:util";
import { type Config, InvalidConfig, readConfig } from "../config.ts";
import { appCommands } from "./app-commands.ts";
import { type Command, type Io, UsageError } from "./command.ts";
import { doctorCommand } from "./doctor.ts";
import { helpOf, helpOfAll } from "./help.ts";
import { keysCommands } from "./keys-commands.ts";
import { migrateCommand } from "./migrate.ts";
import { orgCommands } from "./org-commands.ts";
import { reasonOf } from "./reason.ts";
import { secretCommands } from "./secret-commands.ts";
import { startCommand } from "./start.ts";
import { terminal } from "./terminal.ts";
import { userCommands } from "./user-commands.ts";

export const commands: readonly Command[] = [
  startCommand,
  migrateCommand,
  doctorCommand,
  ...orgCommands,
  ...userCommands,
  ...appCommands,
  ...secretCommands,
  ...keysCommands,
];

/** What a command meets outside: the terminal and the environment. */
export interface Outside {
  readonly io: Io;
  /** @throws InvalidConfig */
  readConfig(): Config;
}

/** @returns the exit code: 0 done, 1 refused or failed, 2 typed wrong */
export async function run(
  args: readonly string[],
  outside: Outside = { io: terminal(), readConfig },
): Promise<number> {
  const { io } = outside;
  const words = args[0] === "help" ? [...args.slice(1), "--help"] : args;
  const command = commands.find(({ name }) => startsWith(words, name));
  if (!command) return answerWithoutCommand(words, io);
  try {
    return await runCommand(command, words.slice(command.name.split(" ").length), outside);
  } catch (error) {
    if (error instanceof UsageError || isParseError(error)) {
      io.printError(`signet ${command.name}: ${error.message}\nSee: signet ${command.name} --help`);
      return 2;
    }
    io.printError(`signet ${command.name}: ${reasonOf(error)}`);
    return 1;
  }
}

async function runCommand(command: Command, args: string[], { io, readConfig }: Outside): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    options: { ...command.options, help: { type: "boolean", short: "h" } },
    allowPositionals: true,
    strict: true,
  });
  if (values.help) {
    io.print(helpOf(command));
    return 0;
  }
  const unexpected = positionals[command.positionals ?? 0];
  if (unexpected !== undefined) throw new UsageError(`there is no place for "${unexpected}"`);
  let config: Config;
  try {
    config = readConfig();
  } catch (error) {
    if (!(error instanceof InvalidConfig) || !command.runMisconfigured) throw error;
    return command.runMisconfigured(error.faults, { values, positionals, io });
  }
  return command.run({ config, values, positionals, io });
}

/** Help for whoever asked for it; else what is wrong with the words, and help. */
function answerWithoutCommand(words: readonly string[], io: Io): number {
  const typed = words.filter((word) => !word.startsWith("-"));
  const topic = commands.some(({ name }) => name.startsWith(`${typed[0]} `)) ? typed[0] : undefined;
  const wantsHelp = words.includes("--help") || words.includes("-h");
  const known = typed.length === 0 || (topic !== undefined && typed.length === 1);
  if (wantsHelp && known) io.print(helpOfAll(commands, topic));
  else if (words.length === 0) io.print(helpOfAll(commands));
  else io.printError(`signet: ${faultOf(words, typed, topic)}\n\n${helpOfAll(commands, topic)}`);
  return words.length === 0 || (wantsHelp && known) ? 0 : 2;
}

function faultOf(words: readonly string[], typed: readonly string[], topic: string | undefined): string {
  if (words[0]?.startsWith("-"))
    return `the command comes first, then its options: signet COMMAND ${words[0]} …`;
  if (topic !== undefined && typed.length === 1) return `what shall be done? "${topic}" alone is no command`;
  return `there is no command "${typed.slice(0, 2).join(" ")}"`;
}

const startsWith = (words: readonly string[], name: string): boolean =>
  name.split(" ").every((word, index) => words[index] === word);

const isParseError = (error: unknown): error is Error =>
  error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");
