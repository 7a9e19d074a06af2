/** Settings from options, from a JSON file, or from the environment, in this order of precedence; and the service they name. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import {
  type Command,
  type Io,
  optionalText,
  textOption,
  UsageError,
  type Values,
} from "@signet/cli-runtime/command";
import { isUuid } from "@signet/protocol/hash";
import { isServiceAddress } from "@signet/protocol/service-address";
import { type DeviceService, deviceService, type ServiceAddress } from "../service/device-service.ts";
import { httpClient, retryWhenBusy } from "../service/http-client.ts";
import type { DeviceRecord } from "../state/device-record.ts";

export interface DeviceIo extends Io {
  readonly random: () => number;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The first line of standard input. */
  readLine(): Promise<string>;
  pause(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

export type DeviceCommand = Command<DeviceIo>;

export const commonOptions = {
  state: textOption("DIR", "state folder"),
  config: textOption("FILE", "JSON file with settings, named like the options"),
  "server-ca": textOption("FILE", "PEM file to trust instead of the system's roots"),
};

export const hookOption = {
  "on-revoked": textOption("PROGRAM", "run once after the service has revoked the device"),
};

export const addressOptions = {
  server: textOption("URL", "the service's address"),
  org: textOption("ID", "the organisation"),
};

const names = ["state", "server", "org", "key", "tpm", "ek", "server-ca", "on-revoked"] as const;
type SettingName = (typeof names)[number];
const pathNames: readonly SettingName[] = ["state", "server-ca", "on-revoked"];

type GivenSettings = Partial<Record<SettingName, string>>;
export type Settings = Readonly<GivenSettings> & { readonly state: string };

/** Paths become absolute; those of the file start at its own folder. @throws UsageError */
export async function readSettings(values: Values, { environment }: DeviceIo): Promise<Settings> {
  const file = optionalText(values, "config") ?? environment["SIGNET_DEVICE_CONFIG"];
  const settings = file === undefined ? {} : await readSettingsFile(file);
  for (const name of names) {
    const value = optionalText(values, name);
    if (value !== undefined) settings[name] = pathNames.includes(name) ? path.resolve(value) : value;
  }
  return { ...settings, state: settings.state ?? defaultState(environment) };
}

async function readSettingsFile(file: string): Promise<GivenSettings> {
  let content: unknown;
  try {
    content = JSON.parse(await readFile(file, "utf8"));
  } catch (error) {
    throw new UsageError(`cannot read ${file} as JSON: ${error instanceof Error ? error.message : error}`);
  }
  if (typeof content !== "object" || content === null || Array.isArray(content))
    throw new UsageError(`${file} must hold a JSON object`);
  const settings: GivenSettings = {};
  for (const [member, value] of Object.entries(content)) {
    const name = names.find((known) => known === member);
    if (!name) throw new UsageError(`${file}: "${member}" is not known; known are ${names.join(", ")}`);
    if (typeof value !== "string" || value === "")
      throw new UsageError(`${file}: "${member}" must be a string`);
    settings[name] = pathNames.includes(name) ? path.resolve(path.dirname(file), value) : value;
  }
  return settings;
}

/** systemd's StateDirectory=, else the system's folder for services, or the user's own. */
function defaultState({ STATE_DIRECTORY, XDG_STATE_HOME, HOME }: DeviceIo["environment"]): string {
  if (STATE_DIRECTORY) return STATE_DIRECTORY;
  if (process.getuid?.() === 0 || !HOME) return "/var/lib/signet-device";
  return path.join(XDG_STATE_HOME ?? path.join(HOME, ".local", "state"), "signet-device");
}

/** @throws UsageError */
export function requireAddress({ server, org }: Settings): ServiceAddress {
  if (server === undefined || org === undefined) throw new UsageError("--server and --org are required");
  if (!isServiceAddress(server))
    throw new UsageError("--server must be an https URL, or http on this machine");
  if (!isUuid(org)) throw new UsageError("--org must be a UUID");
  return { server: server.replace(/\/+$/, ""), organisation: org.toLowerCase() };
}

/** `--server-ca` overrides the file remembered at enrolment. @throws UsageError when it cannot be read */
export async function openService(
  target: ServiceAddress & Pick<DeviceRecord, "serverCa">,
  settings: Settings,
  io: DeviceIo,
): Promise<DeviceService> {
  const file = settings["server-ca"] ?? target.serverCa;
  const roots = file === undefined ? undefined : await readRoots(file);
  return deviceService(retryWhenBusy(httpClient(roots), io), target);
}

async function readRoots(file: string): Promise<string> {
  const text = await readFile(file, "utf8").catch(() => undefined);
  if (!text?.includes("-----BEGIN CERTIFICATE-----"))
    throw new UsageError(`${file} does not hold a certificate in PEM`);
  return text;
}
