/** Finds the command, reads its options and the configuration, and turns errors into exit codes. */
import { parseArgs } from "node:util";
import { type Config, InvalidConfig, readConfig } from "../config/config.ts";
import { accountCommands } from "./account/account-commands.ts";
import { appCommands } from "./app/app-commands.ts";
import { auditCommands } from "./audit/audit-commands.ts";
import { type Call, type Command, type Io, optionalText, UsageError } from "./command.ts";
import { consentCommands } from "./consent/consent-commands.ts";
import { deviceCaCommands } from "./device/device-ca-commands.ts";
import { deviceCommands } from "./device/device-commands.ts";
import { devicePolicyCommands } from "./device/device-policy-commands.ts";
import { deviceTrustCommands } from "./device/device-trust-commands.ts";
import { doctorCommand } from "./doctor/doctor.ts";
import { helpOf, helpOfAll } from "./help.ts";
import { keysCommands } from "./keys/keys-commands.ts";
import { migrateCommand } from "./migrate.ts";
import { orgCommands } from "./org/org-commands.ts";
import { agentCommands } from "./pool/agent-commands.ts";
import { poolCommands } from "./pool/pool-commands.ts";
import { reasonOf } from "./reason.ts";
import { scopeCommands } from "./scope/scope-commands.ts";
import { secretCommands } from "./secret/secret-commands.ts";
import { startCommand } from "./start/start.ts";
import { terminal } from "./terminal.ts";
import { userCommands } from "./user/user-commands.ts";

export const commands: readonly Command[] = [
  startCommand,
  migrateCommand,
  doctorCommand,
  ...orgCommands,
  ...userCommands,
  ...appCommands,
  ...secretCommands,
  ...accountCommands,
  ...keysCommands,
  ...poolCommands,
  ...agentCommands,
  ...deviceCommands,
  ...deviceCaCommands,
  ...devicePolicyCommands,
  ...deviceTrustCommands,
  ...scopeCommands,
  ...consentCommands,
  ...auditCommands,
];

/** What a command meets outside: the terminal and the environment. */
export interface Outside {
  readonly io: Io;
  /** @throws InvalidConfig */
  readConfig(): Config;
  /** For tests, which look at every statement. */
  readonly around?: Call["around"];
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
      // What Node adds about arguments that begin with a dash helps nobody here.
      const [message] = error.message.split(". To specify a positional");
      io.printError(`signet ${command.name}: ${message}\nSee: signet ${command.name} --help`);
      return 2;
    }
    io.printError(`signet ${command.name}: ${reasonOf(error)}`);
    return 1;
  }
}

async function runCommand(command: Command, args: string[], outside: Outside): Promise<number> {
  const { io, readConfig, around } = outside;
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
  const missing = Object.keys(command.options).filter(
    (name) => command.options[name]?.required && optionalText(values, name) === undefined,
  );
  if (missing.length > 0) throw new UsageError(missing.map((name) => `--${name} is missing`).join(", "));
  const unexpected = positionals[command.positionals ?? 0];
  if (unexpected !== undefined) throw new UsageError(`there is no place for "${unexpected}"`);
  let config: Config;
  try {
    config = readConfig();
  } catch (error) {
    if (!(error instanceof InvalidConfig) || !command.runMisconfigured) throw error;
    return command.runMisconfigured(error.faults, { values, positionals, io });
  }
  return command.run({ config, values, positionals, io, around });
}

/** Help for whoever asked for it; else what is wrong with the words. */
function answerWithoutCommand(words: readonly string[], io: Io): number {
  const [first, ...more] = words.filter((word) => !word.startsWith("-"));
  const family = commands.filter(({ name }) => name.startsWith(`${first} `));
  const wantsHelp = words.length === 0 || words.includes("--help") || words.includes("-h");
  if (wantsHelp && (first === undefined || (family.length > 0 && more.length === 0))) {
    io.print(helpOfAll(commands, first));
    return 0;
  }
  io.printError(`signet: ${faultOf(words, family)}`);
  io.printError(`See: signet ${family.length > 0 ? `${first} ` : ""}--help`);
  return 2;
}

function faultOf(words: readonly string[], family: readonly Command[]): string {
  if (words[0]?.startsWith("-"))
    return `the command comes first, then its options: signet COMMAND ${words[0]} …`;
  const typed = words.filter((word) => !word.startsWith("-")).slice(0, 2);
  const known = family.map(({ name }) => name).join(", ");
  return `there is no command "${typed.join(" ")}"${known === "" ? "" : `; there is: ${known}`}`;
}

const startsWith = (words: readonly string[], name: string): boolean =>
  name.split(" ").every((word, index) => words[index] === word);

const isParseError = (error: unknown): error is Error =>
  error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");
