/** Finds the command, reads its options and the configuration, and turns errors into exit codes. */
import { parseArgs } from "node:util";
import type { ClientSettings } from "../config/client-settings.ts";
import { type Config, clientSettings, InvalidConfig, readConfig } from "../config/config.ts";
import { version } from "../config/version.ts";
import type { Service } from "../modules/open-service.ts";
import { accountCommands } from "./account/account-commands.ts";
import { appCommands } from "./app/app-commands.ts";
import { auditCommands } from "./audit/audit-commands.ts";
import { detailTypeCommands, grantCommands } from "./authorization-detail-type/detail-type-commands.ts";
import { backupCommand } from "./backup/backup-command.ts";
import { restoreCommand } from "./backup/restore-command.ts";
import { clientCertificateAuthorityCommands } from "./client-certificate-authority/client-certificate-authority-commands.ts";
import { clientIdMetadataPolicyCommands } from "./client-id-metadata-policy/client-id-metadata-policy-commands.ts";
import {
  type Call,
  type Command,
  type Io,
  optionalText,
  optionsOf,
  serverOptions,
  UsageError,
} from "./command.ts";
import { configCommands } from "./config/config-commands.ts";
import { organisationConfigCommands } from "./config/organisation-config.ts";
import { connectionCommands } from "./connection/connection-commands.ts";
import { consentCommands } from "./consent/consent-commands.ts";
import { devCommand } from "./dev/dev-command.ts";
import { deviceCaCommands } from "./device/device-ca-commands.ts";
import { deviceCommands } from "./device/device-commands.ts";
import { devicePolicyCommands, deviceTrustCommands } from "./device/device-trust-commands.ts";
import { distributeCommand } from "./distribute.ts";
import { doctorCommand } from "./doctor/doctor.ts";
import { domainAndBreakGlassCommands } from "./domain/domain-commands.ts";
import { eventStreamCommands } from "./event-stream/event-stream-commands.ts";
import { explainError } from "./explain-error.ts";
import { groupCommands } from "./group/group-commands.ts";
import { commandHelp, generalHelp } from "./help.ts";
import { initialAccessTokenCommands } from "./initial-access-token/initial-access-token-commands.ts";
import { invitationCommands } from "./invitation/invitation-commands.ts";
import { keysCommands } from "./keys/keys-commands.ts";
import { ledgerCommands } from "./ledger/ledger-commands.ts";
import { masterKeyCommands } from "./master-key/master-key-commands.ts";
import { migrateCommand } from "./migrate.ts";
import { withServer } from "./on-server/commands-on-server.ts";
import { operatorCommands } from "./operator/operator-commands.ts";
import { orgCommands } from "./org/org-commands.ts";
import { errorMessage } from "./output.ts";
import { agentCommands } from "./pool/agent-commands.ts";
import { poolCommands } from "./pool/pool-commands.ts";
import { portalLinkCommands } from "./portal-link/portal-link-commands.ts";
import { loginCommands } from "./remote/login-commands.ts";
import { localWork, remoteWork, requireHere } from "./remote/run-records.ts";
import { resourceCommands } from "./resource/resource-commands.ts";
import { roleCommands } from "./role/role-commands.ts";
import { scopeCommands } from "./scope/scope-commands.ts";
import { secretCommands } from "./secret/secret-commands.ts";
import { sharedApplicationCommands } from "./shared-application/shared-application-commands.ts";
import { signInCommands } from "./sign-in/sign-in-commands.ts";
import { signUpCommands } from "./sign-up/sign-up-commands.ts";
import { startCommand } from "./start/start.ts";
import { terminal } from "./terminal.ts";
import { tokenExchangeCommands } from "./token-exchange/token-exchange-commands.ts";
import { trustCommands } from "./trust/trust-commands.ts";
import { userCommands } from "./user/user-commands.ts";
import { listenCommand } from "./webhook/listen.ts";
import { webhookCommands } from "./webhook/webhook-commands.ts";
import { organisationCall, withService } from "./with-service.ts";

const onDatabase: readonly Command[] = [
  startCommand,
  devCommand,
  migrateCommand,
  doctorCommand,
  distributeCommand,
  ...configCommands,
  ...organisationConfigCommands,
  ...orgCommands,
  ...operatorCommands,
  ...loginCommands,
  ...userCommands,
  ...groupCommands,
  ...roleCommands,
  ...appCommands,
  ...secretCommands,
  ...accountCommands,
  ...keysCommands,
  ...masterKeyCommands,
  backupCommand,
  restoreCommand,
  ...poolCommands,
  ...agentCommands,
  ...deviceCommands,
  ...deviceCaCommands,
  ...devicePolicyCommands,
  ...deviceTrustCommands,
  ...scopeCommands,
  ...connectionCommands,
  ...domainAndBreakGlassCommands,
  ...invitationCommands,
  ...clientCertificateAuthorityCommands,
  ...consentCommands,
  ...initialAccessTokenCommands,
  ...trustCommands,
  ...detailTypeCommands,
  ...grantCommands,
  ...tokenExchangeCommands,
  ...auditCommands,
  ...portalLinkCommands,
  ...sharedApplicationCommands,
  ...signInCommands,
  ...signUpCommands,
  ...resourceCommands,
  ...clientIdMetadataPolicyCommands,
  ...webhookCommands,
  ...eventStreamCommands,
  ...ledgerCommands,
  listenCommand,
];

/** With `--server` where they can do without the database. */
export const commands: readonly Command[] = onDatabase.map(withServer);

/** The terminal and the environment of the process. */
export interface CommandEnvironment {
  readonly io: Io;
  /** @throws InvalidConfig */
  readConfig(): Config;
  readClientSettings(): ClientSettings;
  /** For tests, which look at every statement. */
  readonly around?: Call["around"];
}

/** @returns the exit code: 0 success, 1 failed, 2 invalid command line */
export async function run(
  args: readonly string[],
  environment: CommandEnvironment = { io: terminal(), readConfig, readClientSettings: clientSettings },
): Promise<number> {
  const { io } = environment;
  if (["--version", "-V", "version"].includes(args[0] ?? "") && args.length === 1) {
    io.print(version);
    return 0;
  }
  const words = args[0] === "help" ? [...args.slice(1), "--help"] : args;
  const command = commands.find(({ name }) => startsWith(words, name));
  if (!command) return printHelpOrError(words, io);
  try {
    return await runCommand(command, words.slice(command.name.split(" ").length), environment);
  } catch (error) {
    if (error instanceof UsageError || isParseError(error)) {
      // Cuts Node's advice on positional arguments that begin with a dash.
      const [message] = error.message.split(". To specify a positional");
      io.printError(`signet ${command.name}: ${message}\nSee: signet ${command.name} --help`);
      return 2;
    }
    io.printError(`signet ${command.name}: ${errorMessage(error)}`);
    return 1;
  }
}

async function runCommand(
  command: Command,
  args: string[],
  environment: CommandEnvironment,
): Promise<number> {
  const { io, readConfig, around } = environment;
  const options = optionsOf(command);
  const isOnlyHere = command.onlyHere !== undefined;
  // Taken by a command that refuses them too, for it to say why.
  const accepted = isOnlyHere ? { ...serverOptions, ...options } : options;
  const parsed = Object.entries(accepted).map(([name, { value, multiple = false }]) => {
    const type = value === undefined ? ("boolean" as const) : ("string" as const);
    return [name, { type, multiple }] as const;
  });
  const { values, positionals } = parseArgs({
    args,
    options: { ...Object.fromEntries(parsed), help: { type: "boolean", short: "h" } },
    allowPositionals: true,
    strict: true,
  });
  if (values.help) {
    io.print(commandHelp(command));
    return 0;
  }
  const client = environment.readClientSettings();
  if (isOnlyHere) requireHere(command, { values, client });
  const missing = Object.entries(options)
    .filter(
      ([, { required, requiredWithout }]) =>
        required || (requiredWithout !== undefined && optionalText(values, requiredWithout) === undefined),
    )
    .map(([name]) => name)
    .filter((name) => optionalText(values, name) === undefined);
  if (missing.length > 0) throw new UsageError(missing.map((name) => `--${name} is required`).join(", "));
  const unexpected = positionals[command.positionals ?? 0];
  if (unexpected !== undefined) throw new UsageError(`unexpected argument "${unexpected}"`);
  const remote = remoteWork(command, { values, positionals, io, client });
  if (remote) return remote();
  let config: Config;
  try {
    config = readConfig();
  } catch (error) {
    if (!(error instanceof InvalidConfig) || !command.runMisconfigured) throw error;
    return command.runMisconfigured(error.faults, { values, positionals, io });
  }
  try {
    return await runConfigured(command, { config, values, positionals, io, around });
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new Error(explainError(error, config), { cause: error });
  }
}

async function runConfigured(command: Command, call: Call): Promise<number> {
  if ("run" in command) return command.run(call);
  if ("runByApi" in command) return localWork(call, command.runByApi);
  const work = async (service: Service, here: Call) => {
    if ("runWithService" in command) return command.runWithService(service, here);
    if ("runInOrganisation" in command)
      return command.runInOrganisation(await organisationCall(here, service));
    throw new Error("the command needs a server");
  };
  return withService(call, work, { mayBegin: command.mayBegin });
}

/** Prints help when the arguments ask for it, otherwise why they name no command. */
function printHelpOrError(words: readonly string[], io: Io): number {
  const [first, ...more] = words.filter((word) => !word.startsWith("-"));
  const family = commands.filter(({ name }) => name.startsWith(`${first} `));
  const wantsHelp = words.length === 0 || words.includes("--help") || words.includes("-h");
  if (wantsHelp && (first === undefined || (family.length > 0 && more.length === 0))) {
    io.print(generalHelp(commands, first));
    return 0;
  }
  io.printError(`signet: ${commandError(words, family)}`);
  io.printError(`See: signet ${family.length > 0 ? `${first} ` : ""}--help`);
  return 2;
}

function commandError(words: readonly string[], family: readonly Command[]): string {
  if (words[0]?.startsWith("-")) return `options follow the command: signet COMMAND ${words[0]} …`;
  const typed = words.filter((word) => !word.startsWith("-")).slice(0, 2);
  const known = family.map(({ name }) => name).join(", ");
  return `unknown command "${typed.join(" ")}"${known === "" ? "" : `; available: ${known}`}`;
}

const startsWith = (words: readonly string[], name: string): boolean =>
  name.split(" ").every((word, index) => words[index] === word);

const isParseError = (error: unknown): error is Error =>
  error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");
