/** Finds the command, reads its options, and turns errors into exit codes. */
import { parseArgs } from "node:util";
import { redactSecrets } from "@signet/protocol/redact-secrets";
import { Ended, exitCodes } from "../exit-codes.ts";
import { isPassingTrouble } from "../keep-renewed.ts";
import { reasonOf } from "../log.ts";
import { caCommand } from "./ca-command.ts";
import { type Command, type Io, type Option, optionalText, UsageError } from "./command.ts";
import { enrollCommand } from "./enroll-command.ts";
import { renewCommand } from "./renew-command.ts";
import { statusCommand } from "./status-command.ts";
import { tokenCommand } from "./token-command.ts";

export const commands: readonly Command[] = [
  enrollCommand,
  statusCommand,
  renewCommand,
  tokenCommand,
  caCommand,
];

/** @returns one of `exitCodes` */
export async function runCommandLine(args: readonly string[], io: Io): Promise<number> {
  const words = args[0] === "help" ? [...args.slice(1), "--help"] : args;
  const command = commands.find(({ name }) => name === words[0]);
  if (!command) {
    const wantsHelp = words.length === 0 || words.includes("--help") || words.includes("-h");
    if (wantsHelp) io.print(helpOfAll());
    else io.printError(`signet-device: there is no command "${words.join(" ")}"\nSee: signet-device --help`);
    return wantsHelp ? exitCodes.done : exitCodes.usage;
  }
  try {
    return await runCommand(command, words.slice(1), io);
  } catch (error) {
    const exitCode = exitCodeOf(error);
    io.printError(redactSecrets(`signet-device ${command.name}: ${reasonOf(error)}`));
    if (exitCode === exitCodes.usage) io.printError(`See: signet-device ${command.name} --help`);
    return exitCode;
  }
}

function exitCodeOf(error: unknown): number {
  if (error instanceof Ended) return error.exitCode;
  if (error instanceof UsageError || isParseError(error)) return exitCodes.usage;
  return isPassingTrouble(error) ? exitCodes.tryLater : exitCodes.failed;
}

async function runCommand(command: Command, args: readonly string[], io: Io): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: { ...command.options, help: { type: "boolean", short: "h" } },
    allowPositionals: false,
    strict: true,
  });
  if (values["help"]) {
    io.print(helpOf(command));
    return exitCodes.done;
  }
  const missing = Object.entries(command.options).flatMap(([name, { required }]) =>
    required && optionalText(values, name) === undefined ? [`--${name} is missing`] : [],
  );
  if (missing.length > 0) throw new UsageError(missing.join(", "));
  return await command.run({ values, io });
}

function helpOfAll(): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  return [
    "signet-device: enrols this machine with Signet, renews its certificate, gets tokens that are bound to it",
    "",
    ...commands.map(({ name, summary }) => `  signet-device ${name.padEnd(width)}  ${summary}`),
    "",
    "signet-device COMMAND --help shows a command's options.",
    "Exit code 0: done; 1: refused or failed; 2: typed wrong; 3: the device is revoked; 4: its certificate has expired;",
    "5: nothing is enrolled; 6: the service does not answer, try again later.",
  ].join("\n");
}

function helpOf({ name, summary, usage, options }: Command): string {
  const rows = Object.entries(options).map(
    ([option, it]) => [`--${option}${placeholder(it)}`, it.help] as const,
  );
  const width = Math.max(0, ...rows.map(([left]) => left.length));
  return [
    `signet-device ${name}: ${summary}`,
    "",
    `Usage: signet-device ${name} ${usage}`,
    ...(rows.length === 0 ? [] : ["", ...rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)]),
  ].join("\n");
}

const placeholder = ({ type, value }: Option): string => (type === "boolean" ? "" : ` ${value ?? "VALUE"}`);

const isParseError = (error: unknown): boolean =>
  error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");
