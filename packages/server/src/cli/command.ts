/** The command type, its input and output, and readers for option values. */
import type { ClientSettings } from "../config/client-settings.ts";
import type { Config } from "../config/config.ts";
import type { Organisation } from "../core/organisations/organisation.ts";
import type { Service, ServiceOptions } from "../modules/open-service.ts";
import type { RecordApi } from "./remote/api-types.ts";

export interface Option {
  /** Placeholder for the value in `--help`, e.g. `URI`; an option without one is a flag. */
  readonly value?: string;
  readonly multiple?: boolean;
  readonly required?: boolean;
  /** Required unless this other option is given. */
  readonly requiredWithout?: string;
  /** One line for `--help`. */
  readonly help: string;
}

export type Options = Readonly<Record<string, Option>>;
export type Values = Readonly<Record<string, string | boolean | Array<string | boolean> | undefined>>;

export interface Io {
  /** One line on standard output; with `--json` only JSON is printed. */
  print(line: string): void;
  printError(line: string): void;
  /** A new password: typed twice without echo on a terminal, otherwise the first line of standard input. */
  readSecret(question: string): Promise<string>;
  /** Whether the operator typed yes; undefined without a terminal. */
  confirm(question: string): Promise<boolean | undefined>;
}

export interface Call {
  readonly config: Config;
  readonly values: Values;
  readonly positionals: readonly string[];
  readonly io: Io;
  /** Lets tests observe every SQL statement. */
  readonly around?: ServiceOptions["around"] | undefined;
}

/** A call of a command on the organisation of `--org`, read before it or `by` is used: both throw when there is none. */
export interface OrganisationCall extends Call {
  readonly service: Service;
  readonly organisation: Organisation;
  /** The organisation of a change, and its actor for the audit log. */
  readonly by: { readonly orgId: string; readonly actor: string };
}

/** A call that needs neither the database nor its settings. */
export interface RemoteCall extends Pick<Call, "io" | "values" | "positionals"> {
  readonly client: ClientSettings;
}

/** A call of a command on the records of one organisation. */
export interface RecordCall extends Pick<Call, "io" | "values" | "positionals"> {
  readonly api: RecordApi;
}

interface CommandDefinition {
  /** As typed, e.g. `org create`. */
  readonly name: string;
  readonly summary: string;
  /** Positional arguments and options as shown by `--help`. */
  readonly usage?: string;
  readonly options?: Options;
  /** Maximum number of positional arguments (default 0). */
  readonly positionals?: number;
  /** Whole command lines, for `--help`. */
  readonly examples?: readonly string[];
  /** It may begin an installation: any other command refuses where there is no database or no key. */
  readonly mayBegin?: boolean;
  /** What it does with `--server`: by API v1 of that server. A command with `runByApi` always does. */
  atServer?(call: RecordCall): Promise<number>;
  /** Why it can't do with a server's API: with `--server` it refuses with this. */
  readonly onlyHere?: string;
  /** Reports an invalid configuration in place of the usual message. @returns the exit code */
  runMisconfigured?(faults: readonly string[], call: Omit<Call, "config">): number;
}

/**
 * All return the exit code. `runWithService`: the runner opens the service and closes it afterwards. `runInOrganisation`:
 * it also has the options `--org` and `--json`, and the runner finds the organisation. `runByApi`: the same, on the records of
 * API v1, of a server (`--server`) or of the database. `runRemotely`: on a server alone.
 */
export type Command = CommandDefinition &
  (
    | { run(call: Call): Promise<number> }
    | { runWithService(service: Service, call: Call): Promise<number> }
    | { runInOrganisation(call: OrganisationCall): Promise<number> }
    | { runByApi(call: RecordCall): Promise<number> }
    | { runRemotely(call: RemoteCall): Promise<number> }
  );

export const optionsOf = (command: Command): Options => ({
  ...("runInOrganisation" in command || "runByApi" in command
    ? { ...orgOption, ...command.options, ...jsonOption }
    : command.options),
  ...("runByApi" in command || command.atServer ? serverOptions : {}),
});

export const usageOf = ({ usage, positionals = 0 }: Command): string =>
  usage ?? `${positionals > 0 ? "ID " : ""}--org ID [--json]`;

/** The command line is wrong: printed as it is, exit code 2. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UsageError";
  }
}

export const serverOptions: Options = {
  server: {
    value: "URL",
    help: "call this server by its API, without its database and master key (or SIGNET_SERVER)",
  },
  token: {
    value: "TOKEN",
    help: "access token for it; other users of this machine can see it here: prefer SIGNET_TOKEN, --token-file or signet login",
  },
  "token-file": {
    value: "FILE",
    help: "file with the access token, or - for standard input (or SIGNET_TOKEN_FILE)",
  },
};

export const jsonOption: Options = { json: { help: "print one JSON document only" } };
export const orgOption: Options = { org: { value: "ID", help: "organisation ID", required: true } };
export const appOption: Options = {
  app: { value: "ID", help: "client ID of the application", required: true },
};
export const limitOption: Options = {
  limit: { value: "COUNT", help: "maximum number of entries (default: all)" },
};
export const userOptions: Options = {
  id: { value: "ID", help: "user ID (PermId)" },
  email: { value: "ADDRESS", help: "user's email address" },
};

/** Arguments of a command on an organisation's lists, and on a user. */
export const listArguments = { usage: "--org ID [--limit COUNT] [--json]", options: limitOption };
export const userArguments = { usage: "--org ID (--id ID | --email ADDRESS) [--json]", options: userOptions };

export function requiredText(values: Values, name: string): string {
  const value = optionalText(values, name);
  if (value === undefined) throw new UsageError(`--${name} is required`);
  return value;
}

export function optionalText(values: Values, name: string): string | undefined {
  const value = values[name];
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}

/** Matches the value against the choices, ignoring case. @throws UsageError listing them */
export function choice<Choice extends string>(
  name: string,
  value: string,
  choices: readonly Choice[],
): Choice {
  const found = choices.find((one) => one.toLowerCase() === value.toLowerCase());
  if (found === undefined) throw new UsageError(`--${name} must be one of ${choices.join(", ")}`);
  return found;
}

/** As `choice`; undefined when the option is absent. */
export function optionalChoice<Choice extends string>(
  values: Values,
  name: string,
  choices: readonly Choice[],
): Choice | undefined {
  const value = optionalText(values, name);
  return value === undefined ? undefined : choice(name, value, choices);
}

export const repeatedText = (values: Values, name: string): string[] =>
  [values[name] ?? []].flat().map(String);

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Without the members of options that are absent. */
export const definedOnly = <T extends object>(members: T): Defined<T> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Defined<T>;

/** Parses the text as JSON; text that isn't JSON is returned unchanged. */
export function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
