/** Exports an organisation's configuration as a file: equal configurations give equal bytes. */
import type { Db } from "../../db/open.ts";
import { emailOfState } from "./email-texts.ts";
import {
  brandingNames,
  FILE_FORMAT,
  type FileApplication,
  MAX_APPLICATIONS,
  MAX_FILE_BYTES,
  type OrganisationFile,
  policyNames,
  settingNames,
} from "./organisation-file.ts";
import {
  type ApplicationRecord,
  applicationOfState,
  byText,
  presentMembers,
  scopeOfState,
  settingOf,
} from "./records.ts";
import { references } from "./sections/references.ts";
import { exportSections } from "./sections/section-steps.ts";
import { type OrganisationState, readState } from "./state.ts";

export interface Exported {
  readonly file: OrganisationFile;
  /** As written: indented by two spaces, with a final newline. */
  readonly text: string;
}

/** More than a file can have. */
export class ConfigurationTooLarge extends Error {
  override readonly name = "ConfigurationTooLarge";
}

/**
 * @returns undefined when there is no such organisation
 * @throws ConfigurationTooLarge when the configuration exceeds the limits of a file, so that every export can be read again
 */
export async function exportOrganisation(db: Db, orgId: string): Promise<Exported | undefined> {
  const state = await readState(db, orgId);
  if (!state) return undefined;
  const count = state.applications.length;
  if (count > MAX_APPLICATIONS)
    throw new ConfigurationTooLarge(
      `a file can have at most ${MAX_APPLICATIONS} applications, the organisation has ${count}`,
    );
  const file = fileOf(state);
  const text = `${JSON.stringify(file, null, 2)}\n`;
  if (Buffer.byteLength(text) > MAX_FILE_BYTES)
    throw new ConfigurationTooLarge(
      `a file can have at most ${MAX_FILE_BYTES / 1024 / 1024} MiB, this one would be larger`,
    );
  return { file, text };
}

function fileOf({
  organisation,
  emails,
  scopes,
  applications,
  sections,
}: OrganisationState): OrganisationFile {
  const { branding, ...policies } = organisation.settings;
  return {
    format: FILE_FORMAT,
    branding: presentMembers(brandingNames, (name) => branding[name]) as Partial<typeof branding>,
    policies: presentMembers(policyNames, (name) => policies[name]) as NonNullable<
      OrganisationFile["policies"]
    >,
    ...(emails.length === 0 ? {} : { emails: emails.flatMap(emailOfState) }),
    scopes: scopes
      .map(scopeOfState)
      .map((scope) => ({ ...scope, claims: scope.claims.map((claim) => ({ ...claim })) }))
      .sort((a, b) => byText(a.name, b.name)),
    applications: applications.map(applicationOfState).sort(byNameThenKey).map(applicationMember),
    ...exportSections(sections, references([], applications)),
  };
}

/** Ids come last: they differ between organisations. */
const byNameThenKey = (a: ApplicationRecord, b: ApplicationRecord): number =>
  byText(a.name, b.name) ||
  byText(a.externalKey ?? "", b.externalKey ?? "") ||
  byText(a.id ?? "", b.id ?? "");

function applicationMember(record: ApplicationRecord): FileApplication {
  const { id, externalKey, name, clientType, enabled, settings } = record;
  const members = presentMembers(settingNames, (member) => settingOf(settings, member));
  return {
    ...(id === undefined ? {} : { id }),
    ...(externalKey === undefined ? {} : { externalKey }),
    name,
    clientType,
    enabled,
    ...(members as Partial<FileApplication>),
    organisationConsent: [...record.organisationConsent],
    preauthorizations: record.preauthorizations.map((scopes) => [...scopes]),
  };
}
