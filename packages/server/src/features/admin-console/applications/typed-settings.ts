/** Settings as a form has them: one text for each field. Lists are lines, a ticked box is `on`. */

import type {
  Application,
  ApplicationSettings,
  ConsentMode,
} from "../../../core/applications/application.ts";
import { bothConsentMembers, consentModeOf } from "../../../core/applications/consent-mode.ts";
import type { Submission } from "../../../page-kit/submission.ts";
import { acrNames, controls, grantNameOf, grantNames, type SettingId } from "./setting-fields.ts";

export type TypedSettings = Readonly<Partial<Record<SettingId, string>>>;

/** The field for scopes that the page does not list. */
export const OTHER_SCOPES = "otherScopes";

export const linesOf = (text: string): string[] =>
  text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== "");

export function readTyped(
  { values, all }: Pick<Submission, "values" | "all">,
  ids: readonly SettingId[],
): TypedSettings {
  return Object.fromEntries(ids.map((id) => [id, readOne({ values, all }, id)]));
}

function readOne({ values, all }: Pick<Submission, "values" | "all">, id: SettingId): string {
  const sent = values.get(id) ?? "";
  switch (controls[id].kind) {
    case "check":
      return values.has(id) ? "on" : "";
    case "several":
      return all(id).join("\n");
    case "scopes":
      return [...new Set([...all(id), ...linesOf(values.get(OTHER_SCOPES) ?? "")])].join("\n");
    case "lines":
      return linesOf(sent).join("\n");
    default:
      return sent.trim().replaceAll("\r\n", "\n");
  }
}

/** What the form shows of a record. */
export function typedOf({ name, settings }: Pick<Application, "name" | "settings">): TypedSettings {
  const { grantTypes, requiredAcr, jwks, ...others } = settings;
  const acr = Object.entries(acrNames).find(([, value]) => value === requiredAcr)?.[0] ?? "";
  const own: TypedSettings = {
    name,
    consentMode: consentModeOf(settings),
    requiredAcr: acr,
    grantTypes: grantTypes.map(grantNameOf).join("\n"),
    jwks: jwks === undefined ? "" : JSON.stringify(jwks, null, 2),
  };
  const rest = Object.keys(controls).map((id) => [id, textOf((others as Record<string, unknown>)[id])]);
  return { ...(Object.fromEntries(rest) as TypedSettings), ...own };
}

function textOf(value: unknown): string {
  if (value === undefined || value === false) return "";
  if (value === true) return "on";
  return Array.isArray(value) ? value.join("\n") : String(value);
}

/** A key set that cannot be read is one without keys: the record's rules say the rest. */
export interface ReadSettings {
  readonly name: string;
  readonly settings: ApplicationSettings;
}

/** @param before what stays where the form has no field */
export function settingsOf(
  typed: TypedSettings,
  before: Pick<Application, "name" | "settings">,
): ReadSettings {
  const members = Object.entries(typed).flatMap(([id, text]) => {
    if (id === "name" || id === "consentMode") return [];
    return [[id, memberOf(id as SettingId, text)] as const];
  });
  const kept = Object.entries(before.settings).filter(([member]) => !Object.hasOwn(typed, member));
  const given = members.filter(([, value]) => value !== undefined);
  const merged = {
    ...Object.fromEntries(kept),
    ...Object.fromEntries(given),
  } as unknown as ApplicationSettings;
  const consent =
    typed.consentMode === undefined
      ? {}
      : bothConsentMembers({ consentMode: typed.consentMode as ConsentMode });
  return { name: typed.name ?? before.name, settings: { ...merged, ...consent } };
}

/** @returns undefined for what is left out of the record. What it must not be is the core's to say. */
function memberOf(id: SettingId, text: string): unknown {
  const control = controls[id];
  switch (control.kind) {
    case "check":
      return text === "on";
    case "seconds":
      return /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    case "several":
      return linesOf(text).map((name) => (Object.hasOwn(grantNames, name) ? named(grantNames, name) : name));
    case "scopes":
    case "lines":
      return linesOf(text);
    case "jwks":
      return text === "" ? undefined : jsonOf(text);
    default:
      return text === "" ? undefined : id === "requiredAcr" ? (acrNames[text] ?? text) : text;
  }
}

const named = (names: Readonly<Record<string, string>>, name: string): string => names[name] ?? name;

function jsonOf(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? { keys: value } : value;
  } catch {
    return { keys: [] };
  }
}

const PRIVATE = /"(?:d|p|q|dp|dq|qi|oth|k)"\s*:/;

/** What of it a page may show again: never a private key that was pasted by mistake. */
export const withoutPrivateKeys = (typed: TypedSettings): TypedSettings =>
  PRIVATE.test(typed.jwks ?? "") ? { ...typed, jwks: "" } : typed;
