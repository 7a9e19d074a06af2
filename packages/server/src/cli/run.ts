/** Finds the command, reads its options and the configuration, and turns errors into exit codes. */
import { parseArgs } from "node:util";
import { InvalidConfig, readConfig } from "../config.ts";
import { type Command, UsageError } from "./command.ts";
import { helpOf, helpOfAll } from "./help.ts";
import { terminal } from "./terminal.ts";
import { appCommands } from "./app-commands.ts";
import { doctorCommand } from "./doctor.ts";
import { keysCommands } from "./keys-commands.ts";
import { migrateCommand } from "./migrate.ts";
import { orgCommands } from "./org-commands.ts";
import { secretCommands } from "./secret-commands.ts";
import { startCommand } from "./start.ts";
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

/** @returns the exit code: 0 done, 1 refused or failed, 2 typed wrong */
export async function run(args: readonly string[]): Promise<number> {
  const io = terminal();
  const command = findCommand(args);
  if (!command) {
    const wantsHelp = args.length === 0 || args.some((arg) => arg === "--help" || arg === "-h" || arg === "help");
    if (!wantsHelp) io.printError(`signet: there is no command "${args.filter((arg) => !arg.startsWith("-")).slice(0, 2).join(" ")}"\n`);
    (wantsHelp ? io.print : io.printError)(helpOfAll(commands, args[0]));
    return wantsHelp ? 0 : 2;
  }
  try {
    const { values, positionals } = parseArgs({
      args: args.slice(command.name.split(" ").length),
      options: { ...command.options, help: { type: "boolean", short: "h" } },
      allowPositionals: true,
      strict: true,
    });
    if (values.help) {
      io.print(helpOf(command));
      return 0;
    }
    return await command.run({ config: readConfig(), values, positionals, io });
  } catch (error) {
    if (error instanceof UsageError || isParseError(error)) {
      io.printError(`signet ${command.name}: ${error.message}\nSee: signet ${command.name} --help`);
      return 2;
    }
    io.printError(`signet ${command.name}: ${error instanceof InvalidConfig ? error.message : reasonOf(error)}`);
    return 1;
  }
}

function findCommand(args: readonly string[]): Command | undefined {
  return commands.find(({ name }) => name.split(" ").every((word, index) => args[index] === word));
}

const isParseError = (error: unknown): error is Error =>
  error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");

function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join("; ");
  return error instanceof Error ? error.message : String(error);
}
