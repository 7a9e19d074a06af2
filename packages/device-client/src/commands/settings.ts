/** What several commands are told: by their options, by a file of JSON, by the environment; the first that says it counts. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { type Io, type Options, optionalText, UsageError, type Values } from "./command.ts";

export const commonOptions = {
  state: { type: "string", value: "DIR", help: "the state folder" },
  config: { type: "string", value: "FILE", help: "a file of JSON with settings, by the options' names" },
} as const satisfies Options;

export const trustOption = {
  "server-ca": { type: "string", value: "FILE", help: "PEM that is believed in place of the system's roots" },
} as const satisfies Options;

export const hookOption = {
  "on-revoked": {
    type: "string",
    value: "PROGRAM",
    help: "run once when the service has revoked the device",
  },
} as const satisfies Options;

/** What the file may hold: the options of the same names. */
const names = ["state", "server", "org", "key", "tpm", "ek", "server-ca", "on-revoked"] as const;
type SettingName = (typeof names)[number];
const paths: readonly SettingName[] = ["state", "server-ca", "on-revoked"];

export type Settings = Readonly<Partial<Record<SettingName, string>>> & { readonly state: string };

/** Paths are absolute; those of the file start at its own folder. @throws UsageError */
export async function readSettings(values: Values, io: Io): Promise<Settings> {
  const file = optionalText(values, "config") ?? io.environment["SIGNET_DEVICE_CONFIG"];
  const settings: Partial<Record<SettingName, string>> = file === undefined ? {} : await readConfigFile(file);
  for (const name of names) {
    const typed = optionalText(values, name);
    if (typed !== undefined) settings[name] = paths.includes(name) ? path.resolve(typed) : typed;
  }
  return { ...settings, state: settings.state ?? defaultState(io) };
}

async function readConfigFile(file: string): Promise<Partial<Record<SettingName, string>>> {
  let value: unknown;
  try {
    value = JSON.parse(await readFile(file, "utf8"));
  } catch (error) {
    throw new UsageError(`${file} cannot be read as JSON: ${error instanceof Error ? error.message : error}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new UsageError(`${file} must hold a JSON object`);
  const settings: Partial<Record<SettingName, string>> = {};
  for (const [member, one] of Object.entries(value)) {
    const name = names.find((known) => known === member);
    if (!name) throw new UsageError(`${file}: "${member}" is not known; there are ${names.join(", ")}`);
    if (typeof one !== "string" || one === "") throw new UsageError(`${file}: "${member}" must be a text`);
    settings[name] = paths.includes(name) ? path.resolve(path.dirname(file), one) : one;
  }
  return settings;
}

/** systemd's StateDirectory= names it; else where the system keeps the state of services, or the user's own. */
function defaultState({ environment }: Io): string {
  const { STATE_DIRECTORY, XDG_STATE_HOME, HOME } = environment;
  if (STATE_DIRECTORY) return STATE_DIRECTORY;
  if (process.getuid?.() === 0 || !HOME) return "/var/lib/signet-device";
  return path.join(XDG_STATE_HOME ?? path.join(HOME, ".local", "state"), "signet-device");
}
