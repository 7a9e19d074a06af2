/** Settings as form fields: one text each. Lists are lines, a ticked box is `on`. */
import type {
  Application,
  ApplicationSettings,
  ConsentMode,
} from "../../../core/applications/application.ts";
import { bothConsentMembers, consentModeOf } from "../../../core/applications/consent-mode.ts";
import type { SentForm } from "../../../page-kit/accept-form.ts";
import { readDurationText, toSeconds } from "../../../page-kit/read-fields.ts";
import { acrNames, controls, grantNames, type SettingId, toGrantName } from "./setting-fields.ts";

export type SettingsInput = Readonly<Partial<Record<SettingId, string>>>;

/** The field for scopes that the page has no box for. */
export const OTHER_SCOPES = "otherScopes";

/** The field for the ids of the organisations that an application is shared with. */
export const SHARED_WITH = "sharedWith";

export const readLines = (text: string): string[] =>
  text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== "");

export function readSettingsInput(
  { values, all }: Pick<SentForm, "values" | "all">,
  ids: readonly SettingId[],
): SettingsInput {
  return Object.fromEntries(ids.map((id) => [id, readField({ values, all }, id)]));
}

function readField({ values, all }: Pick<SentForm, "values" | "all">, id: SettingId): string {
  const sent = values.get(id) ?? "";
  switch (controls[id].kind) {
    case "check":
      return values.has(id) ? "on" : "";
    case "several":
      return all(id).join("\n");
    case "scopes":
      return [...new Set([...all(id), ...readLines(values.get(OTHER_SCOPES) ?? "")])].join("\n");
    case "shared":
      return [sent, ...(sent === "named" ? readLines(values.get(SHARED_WITH) ?? "") : [])].join("\n");
    case "uris":
    case "lines":
      return readLines(all(id).join("\n")).join("\n");
    case "seconds": {
      const typed = readDurationText({ values }, id);
      return String(toSeconds(typed) ?? typed.amount);
    }
    default:
      return sent.trim().replaceAll("\r\n", "\n");
  }
}

export function toInput({ name, settings }: Pick<Application, "name" | "settings">): SettingsInput {
  const { grantTypes, requiredAcr, jwks, shared, ...others } = settings;
  const acr = Object.entries(acrNames).find(([, value]) => value === requiredAcr)?.[0] ?? "";
  const own: SettingsInput = {
    name,
    consentMode: consentModeOf(settings),
    requiredAcr: acr,
    grantTypes: grantTypes.map(toGrantName).join("\n"),
    jwks: jwks === undefined ? "" : JSON.stringify(jwks, null, 2),
    shared: sharedText(shared),
  };
  const rest = Object.keys(controls).map((id) => [id, toText((others as Record<string, unknown>)[id])]);
  return { ...(Object.fromEntries(rest) as SettingsInput), ...own };
}

function sharedText(shared: ApplicationSettings["shared"]): string {
  if (shared === undefined) return "none";
  const { organisations } = shared;
  return organisations === "any" ? "any" : ["named", ...organisations].join("\n");
}

function toText(value: unknown): string {
  if (value === undefined || value === false) return "";
  if (value === true) return "on";
  return Array.isArray(value) ? value.join("\n") : String(value);
}

/** @param before kept where the form has no field */
export function toSettings(
  input: SettingsInput,
  before: Pick<Application, "name" | "settings">,
): { name: string; settings: ApplicationSettings } {
  const { name = before.name, consentMode, ...fields } = input;
  const given = Object.entries(fields).map(([id, text]) => [id, toMember(id as SettingId, text)]);
  const members = Object.entries({ ...before.settings, ...Object.fromEntries(given) });
  const settings = Object.fromEntries(members.filter(([, value]) => value !== undefined));
  const consent =
    consentMode === undefined ? {} : bothConsentMembers({ consentMode: consentMode as ConsentMode });
  return { name, settings: { ...settings, ...consent } as ApplicationSettings };
}

/** @returns undefined for a member to leave out; a choice that has no such value stays, empty. The core validates. */
function toMember(id: SettingId, text: string): unknown {
  const control = controls[id];
  switch (control.kind) {
    case "check":
      return text === "on";
    case "seconds":
      return /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    case "several":
      return readLines(text).map((name) => grantsByName.get(name) ?? name);
    case "scopes":
    case "uris":
    case "lines":
      return readLines(text);
    case "shared":
      return readShared(readLines(text));
    case "jwks":
      return text === "" ? undefined : readJwks(text);
    case "radio":
    case "select":
      if (text === "" && control.hasNone) return undefined;
      return id === "requiredAcr" ? (acrNames[text] ?? text) : text;
    default:
      return text === "" ? undefined : text;
  }
}

function readShared([mode, ...ids]: readonly string[]): ApplicationSettings["shared"] {
  if (mode === "any") return { organisations: "any" };
  if (mode !== "named") return undefined;
  // Nobody is no choice of its own: the core refuses what is no id.
  return { organisations: ids.length === 0 ? [""] : [...new Set(ids.map((id) => id.toLowerCase()))] };
}

const grantsByName: ReadonlyMap<string, string> = new Map(Object.entries(grantNames));

/** An unreadable key set becomes one without keys, which the core refuses. */
function readJwks(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? { keys: value } : value;
  } catch {
    return { keys: [] };
  }
}

const PRIVATE = /"(?:d|p|q|dp|dq|qi|oth|k)"\s*:/;

/** A private key pasted by mistake is never shown again. */
export const withoutPrivateKeys = (input: SettingsInput): SettingsInput =>
  PRIVATE.test(input.jwks ?? "") ? { ...input, jwks: "" } : input;
