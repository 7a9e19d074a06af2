/** Parses and validates a file completely, before anything is looked up or changed. */
import {
  type ApplicationRules,
  InvalidApplication,
  requireValidApplication,
} from "../applications/validation.ts";
import { defaultOrganisationSettings, type OrganisationSettings } from "../organisations/organisation.ts";
import {
  idleFaults,
  linkFaults,
  logoFaults,
  methodFaults,
  signInTextFaults,
} from "../organisations/settings-validation.ts";
import { signUpFaults } from "../organisations/sign-up-settings.ts";
import { atOnce, eachOf, type Work } from "../portions.ts";
import { InvalidScope, requireValidScope } from "../scopes/validation.ts";
import { emailFaults } from "./email-texts.ts";
import { readJsonText } from "./json-text.ts";
import { documentFaults } from "./member-faults.ts";
import {
  FILE_FORMAT,
  type FileApplication,
  type FileFault,
  type FileScope,
  InvalidFile,
  type OrganisationFile,
  organisationFileSchema,
} from "./organisation-file.ts";
import { applicationOfFile, claimOfFile, organisationOfFile, scopeOfFile } from "./records.ts";
import { sectionFaults } from "./sections/section-steps.ts";

/** @throws InvalidFile naming every fault by its JSON Pointer */
export const readOrganisationFile = (bytes: Uint8Array): OrganisationFile =>
  atOnce(checkedFile(readJsonText(bytes)));

/** The same of what was parsed before. @throws InvalidFile */
export function* checkedFile(value: unknown, rules: ApplicationRules = {}): Work<OrganisationFile> {
  requireFormat(value);
  const formFaults = yield* documentFaults(organisationFileSchema, value);
  const file = value as OrganisationFile;
  // A malformed record is not validated further; the others are.
  const broken = new Set(formFaults.map(({ path }) => path.split("/").slice(0, 3).join("/")));
  const isWellFormed = (part: string) => ![...broken].some((path) => `${path}/`.startsWith(`${part}/`));
  const scopes = recordsOf(file.scopes, "/scopes", broken);
  const emails = recordsOf(file.emails, "/emails", broken);
  const applications = recordsOf(file.applications, "/applications", broken);
  const faults = [
    ...formFaults,
    ...(isWellFormed("/branding") ? brandingFaults(file.branding ?? {}) : []),
    ...(isWellFormed("/policies") ? policyFaults(file) : []),
    ...emailFaults(
      emails.map(([email]) => email),
      (index) => emails[index]?.[1] ?? "/emails",
    ),
    ...(yield* eachOf(scopes, ([scope, at]) => scopeFaults(scope, at))).flat(),
    ...(yield* eachOf(applications, ([application, at]) => applicationFaults(application, at, rules))).flat(),
    ...duplicates(scopes, "name"),
    ...duplicates(applications, "id"),
    ...duplicates(applications, "externalKey"),
    ...sectionFaults(file, broken),
  ];
  if (faults.length > 0) throw new InvalidFile(faults.slice(0, MAX_FAULTS));
  return file;
}

/** Of more nobody reads, and a file may have a fault for every few bytes. */
export const MAX_FAULTS = 1_000;

const brandingFaults = (branding: Partial<OrganisationSettings["branding"]>): FileFault[] => [
  ...logoFaults("/branding/logoUri", branding.logoUri),
  ...[
    ...linkFaults("/branding/", branding),
    ...signInTextFaults("/branding/signInTexts/", branding.signInTexts, "/"),
  ].map(({ path, message }) => ({ path, message })),
];

/** In another version every member may mean something else: no further faults are reported. */
function requireFormat(value: unknown): void {
  const format = typeof value === "object" && value !== null && "format" in value ? value.format : undefined;
  if (format === FILE_FORMAT) return;
  const message = `must be ${JSON.stringify(FILE_FORMAT)}, the format of this version`;
  throw new InvalidFile([{ path: "/format", message }]);
}

/** A well-formed record with its path. */
type Located<Item> = readonly [record: Item, at: string];

function recordsOf<Item>(
  list: readonly Item[] | undefined,
  path: string,
  broken: ReadonlySet<string>,
): Located<Item>[] {
  if (list === undefined || broken.has(path)) return [];
  return list
    .map((record, index): Located<Item> => [record, `${path}/${index}`])
    .filter(([, at]) => !broken.has(at));
}

function policyFaults(file: OrganisationFile): FileFault[] {
  const settings = organisationOfFile(file, defaultOrganisationSettings);
  const faults = [...idleFaults(settings), ...methodFaults(settings), ...signUpFaults(settings.signUp)];
  return faults.map(({ path, message }) => ({ path: `/policies/${path.replaceAll(".", "/")}`, message }));
}

function scopeFaults(given: FileScope, at: string): FileFault[] {
  const claims = (given.claims ?? []).flatMap(({ source, path, value }, index): FileFault[] => {
    const of = `${at}/claims/${index}`;
    if (source === "static" && path !== undefined)
      return [{ path: `${of}/path`, message: "is not allowed when the source is static" }];
    if (source !== "static" && value !== undefined)
      return [{ path: `${of}/value`, message: `is not allowed when the source is ${source}` }];
    return [];
  });
  // In the order of the file, so that faults have the right path.
  const inOrder = (given.claims ?? []).map(claimOfFile);
  const scope = { ...scopeOfFile(given), claims: inOrder };
  return [...claims, ...coreFaults(at, () => requireValidScope(scope, scope))];
}

function applicationFaults(given: FileApplication, at: string, rules: ApplicationRules): FileFault[] {
  const { name, clientType, settings } = applicationOfFile(given);
  // Lists in the order of the file, for the same reason.
  const inOrder = { ...settings, ...listsOf(given) };
  const allowed = new Set(settings.allowedScopes);
  return [
    ...coreFaults(at, () => requireValidApplication({ name, clientType, settings: inOrder }, rules)),
    ...askableFaults(given.organisationConsent ?? [], allowed, `${at}/organisationConsent`),
    ...(given.preauthorizations ?? []).flatMap((scopes, index) => {
      const of = `${at}/preauthorizations/${index}`;
      if (scopes.length === 0) return [{ path: of, message: "must name at least one scope" }];
      return askableFaults(scopes, allowed, of);
    }),
    ...sameScopes(given.preauthorizations ?? [], `${at}/preauthorizations`),
  ];
}

const listsOf = (given: FileApplication): Partial<FileApplication> =>
  Object.fromEntries(
    Object.entries(given).filter(
      ([member, value]) =>
        Array.isArray(value) && member !== "organisationConsent" && member !== "preauthorizations",
    ),
  );

/** A grant for a scope that can't be requested would be misleading. */
const askableFaults = (scopes: readonly string[], allowed: ReadonlySet<string>, at: string): FileFault[] => {
  const message = "is not among the application's allowedScopes";
  return scopes.flatMap((scope, index) => (allowed.has(scope) ? [] : [{ path: `${at}/${index}`, message }]));
};

function sameScopes(sets: ReadonlyArray<readonly string[]>, at: string): FileFault[] {
  const seen = new Set<string>();
  return sets.flatMap((scopes, index) => {
    const text = [...new Set(scopes)].sort().join(" ");
    const isFirst = seen.size < seen.add(text).size;
    return isFirst ? [] : [{ path: `${at}/${index}`, message: "is a duplicate" }];
  });
}

function duplicates<Item>(records: readonly Located<Item>[], member: keyof Item & string): FileFault[] {
  const seen = new Map<string, string>();
  return records.flatMap(([record, at]) => {
    const value: unknown = record[member];
    if (typeof value !== "string") return [];
    const key = member === "id" ? value.toLowerCase() : value;
    const first = seen.get(key);
    seen.set(key, first ?? at);
    return first === undefined ? [] : [{ path: `${at}/${member}`, message: `is also used by ${first}` }];
  });
}

/** Faults of a core record's validation: `claims[0].name` becomes `/claims/0/name`. */
function coreFaults(at: string, check: () => void): FileFault[] {
  try {
    check();
    return [];
  } catch (error) {
    if (!(error instanceof InvalidApplication || error instanceof InvalidScope)) throw error;
    return error.faults.map(({ path, message }) => ({
      path: `${at}/${path.replaceAll(/\[(\d+)\]/g, ".$1").replaceAll(".", "/")}`,
      message,
    }));
  }
}
