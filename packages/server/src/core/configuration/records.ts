/**
 * Normalised records: defaults filled in, lists that are sets sorted. Equal meaning gives equal records, whether from
 * a file or from the database.
 */
import type { ClientType } from "@signet/protocol/oauth/redirect-uri";
import { type ApplicationSettings, defaultSettings } from "../applications/application.ts";
import { bothConsentMembers, consentModeOf } from "../applications/consent-mode.ts";
import { defaultOrganisationSettings, type OrganisationSettings } from "../organisations/organisation.ts";
import type { CustomScope, ScopeClaim } from "../scopes/custom-scope.ts";
import {
  type FileApplication,
  type FileScope,
  type OrganisationFile,
  type SettingMember,
  settingNames,
} from "./organisation-file.ts";
import type { ApplicationState } from "./state.ts";

export type ScopeRecord = Pick<CustomScope, "name" | "displayName" | "description" | "sensitive" | "claims">;

export interface ApplicationRecord {
  readonly id: string | undefined;
  readonly externalKey: string | undefined;
  readonly name: string;
  readonly clientType: ClientType;
  readonly enabled: boolean;
  readonly settings: ApplicationSettings;
  readonly organisationConsent: readonly string[];
  readonly preauthorizations: ReadonlyArray<readonly string[]>;
}

/** By code units: independent of the machine's locale. */
export const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Sorted as by `byText`, which is what no comparison at all does. */
export const asSet = (texts: readonly string[]): string[] => [...new Set(texts)].sort();

/** Lists whose order matters: the first contact comes first. */
const ordered: readonly SettingMember[] = ["contacts"];

const isTextList = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === "string");

export function sortedSettings(settings: ApplicationSettings): ApplicationSettings {
  const sorted = Object.entries(settings).map(([member, value]) => {
    const isSet = isTextList(value) && !ordered.includes(member as SettingMember);
    return [member, isSet ? asSet(value) : value];
  });
  return Object.fromEntries(sorted) as ApplicationSettings;
}

/** The members with a value, in the order of the names. */
export const presentMembers = <Name extends string>(
  names: readonly Name[],
  read: (name: Name) => unknown,
): Partial<Record<Name, unknown>> =>
  Object.fromEntries(
    names.map((name) => [name, read(name)]).filter(([, value]) => value !== undefined),
  ) as Partial<Record<Name, unknown>>;

/** A setting as the file has it; undefined when absent. */
export const settingOf = (settings: ApplicationSettings, member: SettingMember): unknown =>
  member === "consentMode" ? consentModeOf(settings) : settings[member];

export function applicationOfFile(given: FileApplication): ApplicationRecord {
  const { id, externalKey, name, clientType, enabled = true } = given;
  const { organisationConsent = [], preauthorizations = [] } = given;
  const sent = presentMembers(settingNames, (member) => given[member]) as Partial<ApplicationSettings>;
  // Without users, the identity scopes have nothing to release.
  const isService = sent.grantTypes?.every((grant) => grant === "client_credentials") ?? false;
  return {
    id: id?.toLowerCase(),
    externalKey,
    name: name.trim(),
    clientType,
    enabled,
    settings: sortedSettings({
      ...defaultSettings(clientType),
      ...(isService ? { allowedScopes: [] } : {}),
      ...sent,
      ...bothConsentMembers(sent),
    }),
    organisationConsent: asSet(organisationConsent),
    preauthorizations: scopeSets(preauthorizations),
  };
}

export function applicationOfState(state: ApplicationState): ApplicationRecord {
  const { id, name, clientType, disabledAt, settings } = state.application;
  const { allowedScopes } = settings;
  const effective = state.preauthorizations.map(({ scopes }) => requestableScopes(scopes, allowedScopes));
  return {
    id,
    externalKey: state.externalKey,
    name,
    clientType,
    enabled: disabledAt === null,
    settings: sortedSettings(settings),
    organisationConsent: requestableScopes(state.organisationConsent?.scopes ?? [], allowedScopes),
    preauthorizations: scopeSets(effective.filter(({ length }) => length > 0)),
  };
}

/** The granted scopes that still have an effect: an application may have lost scopes since. */
export const requestableScopes = (scopes: readonly string[], allowed: readonly string[]): string[] =>
  asSet(scopes).filter((scope) => allowed.includes(scope));

function scopeSets(sets: ReadonlyArray<readonly string[]>): string[][] {
  return asSet(sets.map((scopes) => asSet(scopes).join(" "))).map((text) => text.split(" "));
}

export function scopeOfFile(given: FileScope): ScopeRecord {
  const { name, displayName = name, description = "", sensitive = false, claims = [] } = given;
  return {
    name,
    displayName: displayName.trim(),
    description: description.trim(),
    sensitive,
    claims: sortedClaims(claims.map(claimOfFile)),
  };
}

export const claimOfFile = ({
  name,
  source,
  path = "",
  value,
}: NonNullable<FileScope["claims"]>[number]): ScopeClaim =>
  source === "static" ? { name, source, value } : { name, source, path };

export function scopeOfState({
  name,
  displayName,
  description,
  sensitive,
  claims,
}: CustomScope): ScopeRecord {
  return { name, displayName, description, sensitive, claims: sortedClaims(claims) };
}

/** In one order of members too: `claims` was stored as JSON. The order of claims has no meaning, and no claim repeats. */
const sortedClaims = (claims: readonly ScopeClaim[]): ScopeClaim[] =>
  claims.map(claimOfFile).sort((a, b) => byText(a.name, b.name));

/** Branding and policies; a section that the file omits stays unchanged. */
export function organisationOfFile(
  { branding, policies }: OrganisationFile,
  current: OrganisationSettings,
): OrganisationSettings {
  // Images are files, and no part of this one.
  const { branding: _branding, images: _images, ...defaults } = defaultOrganisationSettings;
  return {
    ...current,
    ...(policies === undefined ? {} : { ...defaults, ...policies }),
    ...(branding === undefined ? {} : { branding: { ...branding } }),
  };
}
