/**
 * Applies a configuration file to an organisation, all or nothing. Each record is written by the same functions as a
 * single change, with their checks, audit events, notifications to other nodes and revocations.
 */
import { isDeepStrictEqual } from "node:util";
import { isSubset } from "@signet/protocol/oauth/scope";
import { boundTo } from "../../db/open.ts";
import type { Application, ApplicationSettings } from "../applications/application.ts";
import {
  ApplicationChanged,
  changeApplication,
  deleteApplication,
} from "../applications/application-changes.ts";
import { lockApplications } from "../applications/applications.store.ts";
import { createApplication } from "../applications/applications.ts";
import { bothConsentMembers, consentModeOf } from "../applications/consent-mode.ts";
import { recordAuditEvent } from "../audit/audit.store.ts";
import type { Consent } from "../consents/consent.ts";
import {
  createPreauthorization,
  deletePreauthorization,
  grantOrganisationConsent,
  revokeConsent,
} from "../consents/consents.ts";
import { lockOrganisation } from "../organisations/organisations.store.ts";
import { changeOrganisationSettings } from "../organisations/organisations.ts";
import { inPortions, pauses } from "../portions.ts";
import { changeCustomScope, createCustomScope, deleteCustomScope } from "../scopes/custom-scopes.ts";
import { insertExternalKey, removeExternalKey } from "./configuration.store.ts";
import { type ApplicationStep, compared, type Difference } from "./difference.ts";
import { applyEmails } from "./email-texts.ts";
import { countsOf, type Entry, entriesOf } from "./entries.ts";
import { type OrganisationFile, settingNames } from "./organisation-file.ts";
import { type ApplicationRecord, presentMembers, requestableScopes, settingOf } from "./records.ts";
import type { SectionDeps } from "./sections/section.ts";
import { applySections } from "./sections/section-steps.ts";
import { readState } from "./state.ts";

/** The difference is no longer the one that was shown. */
export class ConfigurationChanged extends Error {
  constructor() {
    super("the organisation has changed: nothing was applied, review the new difference");
    this.name = "ConfigurationChanged";
  }
}

export interface Applying extends Applier {
  readonly file: OrganisationFile;
  readonly prune: boolean;
  /** The difference that was shown and confirmed; undefined: whatever it is. */
  readonly shown?: readonly Entry[];
  /** Refuses what the caller may not do, by throwing. */
  check?(difference: Difference): void;
}

/**
 * @returns the difference that was applied
 * @throws ConfigurationChanged, InvalidFile, or the error of one of the changes; nothing has changed then
 */
export async function applyFile(deps: SectionDeps, applying: Applying): Promise<Entry[]> {
  const { orgId, file, prune, shown, actor, address, check } = applying;
  const { database } = deps;
  return database.transaction(async (tx) => {
    const by = { orgId, actor, ...(address === undefined ? {} : { address }) };
    const inside: Inside = { ...deps, database: boundTo(database, tx), orgId, act: by, pause: pauses() };
    // Concurrent applications of files wait for each other; the organisation's row is the lock.
    // The applications too: a deleted scope is taken from them in between.
    await lockOrganisation(tx, orgId);
    await lockApplications(tx, orgId);
    const state = await readState(tx, orgId);
    if (!state) throw new ConfigurationChanged();
    const difference = await inPortions(compared(state, file, prune));
    const entries = entriesOf(difference);
    if (shown && !isDeepStrictEqual(entries, shown)) throw new ConfigurationChanged();
    check?.(difference);
    await applyOrganisation(inside, difference);
    await applyEmails(inside, difference.emails);
    await applyScopes(inside, difference);
    const made = await applyApplications(inside, difference);
    const { sections, references: applications } = difference;
    await applySections({ deps: inside, act: inside.act, applications, made }, sections);
    await recordAuditEvent(tx, {
      ...by,
      at: deps.clock(),
      action: "organisation.configuration-applied",
      target: orgId,
      details: { ...countsOf(entries), prune },
    });
    return entries;
  });
}

/** Who applies it. */
export interface Applier {
  readonly orgId: string;
  readonly actor: string;
  readonly address?: string;
}

interface Inside extends SectionDeps {
  readonly orgId: string;
  readonly act: Applier;
  /** Between two records: a file has thousands. */
  readonly pause: () => Promise<void>;
}

async function applyOrganisation(inside: Inside, { organisation }: Difference): Promise<void> {
  const { settings, changes } = organisation;
  if (changes.length > 0) await changeOrganisationSettings(inside, { ...inside.act, settings });
}

/** Removals first: the number of scopes is limited. */
async function applyScopes(inside: Inside, { scopes }: Difference): Promise<void> {
  const { act, pause } = inside;
  for (const step of scopes) {
    await pause();
    if (step.act !== "remove") continue;
    const { id, version } = step.current;
    await deleteCustomScope(inside, { ...act, id, version });
  }
  for (const step of scopes) {
    await pause();
    if (step.act === "create") await createCustomScope(inside, { ...act, ...step.wanted });
    if (step.act !== "change") continue;
    const { id, version } = step.current;
    const { name: _name, ...content } = step.wanted;
    await changeCustomScope(inside, { ...act, id, version, content });
  }
}

/** @returns ids of the file's applications, in its order */
async function applyApplications(
  inside: Inside,
  { applications }: Difference,
): Promise<ReadonlyArray<string | undefined>> {
  for (const { step } of applications) {
    if (step.act === "remove") await remove(inside, step.current.application);
    await inside.pause();
  }
  // A key may move between applications: all changed keys are removed first.
  for (const { step } of applications)
    if (step.act === "change" && step.current.externalKey !== step.wanted.externalKey)
      await removeExternalKey(inside.database.query, {
        orgId: inside.orgId,
        applicationId: step.current.application.id,
      });
  const made: Array<string | undefined> = [];
  for (const one of applications) {
    const application = await applyApplication(inside, one);
    made.push(application?.id);
    if (application) await applyConsents(inside, application, one);
    await inside.pause();
  }
  return made;
}

const remove = (inside: Inside, { id }: Application): Promise<boolean> =>
  deleteApplication(inside, { ...inside.act, id });

/** @returns the updated application; undefined when the file doesn't name it */
async function applyApplication(inside: Inside, { step }: ApplicationStep): Promise<Application | undefined> {
  if (step.act === "remove" || step.act === "leave") return undefined;
  const { name, clientType, enabled, settings, externalKey } = step.wanted;
  if (step.act === "same") return step.current.application;
  const members = step.changes.map(({ member }) => member);
  const application =
    step.act === "create"
      ? await createApplication(inside, { ...inside.act, name, clientType, settings, disabled: !enabled })
      : await change(inside, step.current.application, step.wanted, members);
  if (members.includes("externalKey")) await setExternalKey(inside, application.id, externalKey);
  return application;
}

/** @param externalKey undefined for none; the old one is already removed */
async function setExternalKey(
  { database, clock, orgId, act }: Inside,
  applicationId: string,
  externalKey: string | undefined,
): Promise<void> {
  if (externalKey !== undefined)
    await insertExternalKey(database.query, { orgId, applicationId, externalKey });
  await recordAuditEvent(database.query, {
    ...act,
    at: clock(),
    action: "application.key-changed",
    target: applicationId,
    details: { externalKey: externalKey ?? "" },
  });
}

/** Writes only differing members: lists equal as sets keep their order. */
async function change(
  inside: Inside,
  current: Application,
  { name, enabled, settings }: ApplicationRecord,
  members: readonly string[],
): Promise<Application> {
  // The external key is stored separately.
  if (members.every((member) => member === "externalKey")) return current;
  const changed = settingNames.filter((member) => members.includes(member));
  const unchanged = Object.entries(current.settings).filter(
    ([member]) => !changed.some((name) => name === member),
  );
  const given = presentMembers(changed, (member) => settingOf(settings, member));
  const merged = { ...Object.fromEntries(unchanged), ...given } as unknown as ApplicationSettings;
  const both = bothConsentMembers({ consentMode: consentModeOf(settings) });
  const after = await changeApplication(inside, { ...inside.act, id: current.id }, () => ({
    name,
    disabled: !enabled,
    settings: { ...merged, ...both },
  }));
  if (!after) throw new ApplicationChanged();
  return after;
}

/** Revocations first: a consent that gets narrower is granted again. */
async function applyConsents(
  inside: Inside,
  application: Application,
  { organisationConsent, preauthorizations }: ApplicationStep,
): Promise<void> {
  const { act } = inside;
  const { orgId: _, ...by } = act;
  const { allowedScopes } = application.settings;
  const isNarrower = (current: Consent, wanted: readonly string[]) =>
    !isSubset(requestableScopes(current.scopes, allowedScopes), wanted);
  for (const step of organisationConsent) {
    if (step.act === "remove" || (step.act === "change" && isNarrower(step.current, step.wanted)))
      await revokeConsent(inside, { ...act, id: step.current.id });
    if (step.act === "create" || step.act === "change")
      await grantOrganisationConsent(inside, { application, scopes: step.wanted, ...by });
  }
  for (const step of preauthorizations)
    if (step.act === "remove") await deletePreauthorization(inside, { ...act, id: step.current.id });
  for (const step of preauthorizations)
    if (step.act === "create")
      await createPreauthorization(inside, { application, scopes: step.wanted, ...by });
}
