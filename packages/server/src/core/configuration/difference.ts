/** Computes what applying a file would change; shown before anything is written. */
import { isSubset } from "@signet/protocol/oauth/scope";
import { defaultSettings } from "../applications/application.ts";
import type { Consent } from "../consents/consent.ts";
import type { OrganisationSettings } from "../organisations/organisation.ts";
import { atOnce, eachOf, type Work } from "../portions.ts";
import { apiScopes } from "../scopes/api-scopes.ts";
import type { CustomScope } from "../scopes/custom-scope.ts";
import { MAX_SCOPES } from "../scopes/custom-scopes.ts";
import { lateStandardScopes, signalScopes, standardScopes } from "../scopes/scopes.ts";
import { IS_STANDARD } from "../scopes/validation.ts";
import { type EmailStep, emailSteps } from "./email-texts.ts";
import { type Match, matchApplications } from "./match.ts";
import { changesOf, newMembers } from "./member-changes.ts";
import {
  brandingNames,
  type FileFault,
  InvalidFile,
  type OrganisationFile,
  policyNames,
  settingNames,
} from "./organisation-file.ts";
import {
  type ApplicationRecord,
  applicationOfFile,
  applicationOfState,
  organisationOfFile,
  requestableScopes,
  type ScopeRecord,
  scopeOfFile,
  scopeOfState,
  settingOf,
  sortedSettings,
} from "./records.ts";
import { type References, references } from "./sections/references.ts";
import { compareSections, type SectionSteps } from "./sections/section-steps.ts";
import type { ApplicationState, OrganisationState } from "./state.ts";
import type { MemberChange, Step } from "./step.ts";

export type ConsentStep = Step<Consent, readonly string[]>;

export interface ApplicationStep {
  readonly step: Step<ApplicationState, ApplicationRecord>;
  /** Of the application as it will be; empty when the file doesn't name it. */
  readonly organisationConsent: readonly ConsentStep[];
  readonly preauthorizations: readonly ConsentStep[];
}

export interface Difference {
  readonly organisation: {
    readonly settings: OrganisationSettings;
    readonly changes: readonly MemberChange[];
  };
  readonly emails: readonly EmailStep[];
  readonly scopes: ReadonlyArray<Step<CustomScope, ScopeRecord>>;
  /** Those of the file come first, in its order. */
  readonly applications: readonly ApplicationStep[];
  readonly sections: readonly SectionSteps[];
  /** How the records of sections name applications. */
  readonly references: References;
}

/**
 * @param prune whether records that the file doesn't name are removed, in the sections that the file has
 * @throws InvalidFile when the file can't be applied to this organisation
 */
export const differenceOf = (state: OrganisationState, file: OrganisationFile, prune: boolean): Difference =>
  atOnce(compared(state, file, prune));

/** The same in pieces, an application each. @throws InvalidFile */
export function* compared(
  state: OrganisationState,
  file: OrganisationFile,
  prune: boolean,
): Work<Difference> {
  const wanted = yield* eachOf(file.applications ?? [], applicationOfFile);
  const { matches, others, faults } = matchApplications(wanted, state.applications);
  const scopes = scopeSteps(state.scopes, file, prune);
  const scopeCount = scopes.filter(({ act }) => act !== "remove").length;
  const tooMany = `an organisation has at most ${MAX_SCOPES} scopes, this would make ${scopeCount}`;
  const allFaults = [
    ...faults,
    ...poolFaults(state, file),
    ...undefinedScopeFaults(file, matches, scopes),
    ...standardFaults(state, file),
    ...(scopeCount > MAX_SCOPES ? [{ path: "/scopes", message: tooMany }] : []),
  ];
  if (allFaults.length > 0) throw new InvalidFile(allFaults);
  const prunesApplications = prune && file.applications !== undefined;
  const named = references(matches, prunesApplications ? [] : others);
  return {
    organisation: organisationChanges(state.organisation.settings, file),
    emails: emailSteps(state.emails, file, prune),
    scopes,
    applications: [
      ...(yield* eachOf(matches, (match) => applicationStep(match.wanted, match.current, prune))),
      ...others.map((current): ApplicationStep => {
        const step = { act: prunesApplications ? "remove" : "leave", current } as const;
        return { step, organisationConsent: [], preauthorizations: [] };
      }),
    ],
    sections: compareSections(state.sections, file, { prune, applications: named }),
    references: named,
  };
}

/** An older scope may have a name that is standard now, a new one may not. */
const standardFaults = (
  { scopes: known }: OrganisationState,
  { scopes = [] }: OrganisationFile,
): FileFault[] =>
  scopes.flatMap(({ name }, index) =>
    lateStandardScopes.includes(name) && !known.some((scope) => scope.name === name)
      ? [{ path: `/scopes/${index}/name`, message: IS_STANDARD }]
      : [],
  );

function poolFaults(
  { signingPools }: OrganisationState,
  { applications = [] }: OrganisationFile,
): FileFault[] {
  const message = "names no signing pool of the organisation";
  return applications.flatMap(({ signingPoolId }, index) =>
    signingPoolId === undefined || signingPools.includes(signingPoolId)
      ? []
      : [{ path: `/applications/${index}/signingPoolId`, message }],
  );
}

/** Of the scopes as they will be; one that an application has already may stay (defined-scopes.ts). */
function undefinedScopeFaults(
  { applications = [] }: OrganisationFile,
  matches: readonly Match[],
  steps: Difference["scopes"],
): FileFault[] {
  const names = steps.flatMap((step) => (step.act === "remove" ? [] : [nameOfStep(step)]));
  const defined = new Set<string>([...standardScopes, ...signalScopes, ...apiScopes, ...names]);
  return applications.flatMap(({ allowedScopes = [] }, index) => {
    const had = matches[index]?.current?.application.settings.allowedScopes ?? [];
    return allowedScopes.flatMap((scope, at) =>
      defined.has(scope) || (had.includes(scope) && !steps.some((step) => removes(step, scope)))
        ? []
        : [
            {
              path: `/applications/${index}/allowedScopes/${at}`,
              message: `${scope} is not a scope of the organisation: define it in the file's scopes`,
            },
          ],
    );
  });
}

type ScopeStep = Difference["scopes"][number];

const nameOfStep = (step: ScopeStep): string => ("wanted" in step ? step.wanted.name : step.current.name);

const removes = (step: ScopeStep, scope: string): boolean =>
  step.act === "remove" && step.current.name === scope;

function organisationChanges(
  before: OrganisationSettings,
  file: OrganisationFile,
): Difference["organisation"] {
  const settings = organisationOfFile(file, before);
  return { settings, changes: changesOf(flatOrganisation(before), flatOrganisation(settings)) };
}

const flatOrganisation = ({ branding, ...policies }: OrganisationSettings): Record<string, unknown> =>
  Object.fromEntries([
    ...brandingNames.map((name) => [`branding.${name}`, branding[name]]),
    ...policyNames.map((name) => [`policies.${name}`, policies[name]]),
  ]);

function scopeSteps(
  states: readonly CustomScope[],
  { scopes }: OrganisationFile,
  prune: boolean,
): Step<CustomScope, ScopeRecord>[] {
  const wanted = new Map((scopes ?? []).map((scope) => [scope.name, scopeOfFile(scope)]));
  const known = new Map(states.map((state) => [state.name, state]));
  const named = [...wanted.values()].map((record): Step<CustomScope, ScopeRecord> => {
    const current = known.get(record.name);
    if (!current) {
      const defaults = { description: "", sensitive: false, claims: [] };
      return { act: "create", wanted: record, changes: newMembers(defaults, { ...record }) };
    }
    return stepOf(current, record, changesOf({ ...scopeOfState(current) }, { ...record }));
  });
  const others = states.filter(({ name }) => !wanted.has(name));
  const act = prune && scopes !== undefined ? "remove" : "leave";
  return [...named, ...others.map((current) => ({ act, current }) as const)];
}

function applicationStep(
  wanted: ApplicationRecord,
  current: ApplicationState | undefined,
  prune: boolean,
): ApplicationStep {
  const { allowedScopes } = wanted.settings;
  const effective = (current?.preauthorizations ?? []).map(
    (record) => [record, requestableScopes(record.scopes, allowedScopes)] as const,
  );
  return {
    step: current
      ? stepOf(current, wanted, changesOf(flatRecord(applicationOfState(current)), flatRecord(wanted)))
      : { act: "create", wanted, changes: newMembers(flatDefaults(wanted), flatRecord(wanted)) },
    organisationConsent: consentSteps(current?.organisationConsent, wanted, prune),
    preauthorizations: preauthorizationSteps(effective, wanted.preauthorizations, prune),
  };
}

const flatRecord = ({ name, clientType, externalKey, enabled, settings }: ApplicationRecord) => ({
  externalKey,
  name,
  clientType,
  enabled,
  ...flatSettings(settings),
});

const flatDefaults = ({ clientType }: ApplicationRecord) => ({
  enabled: true,
  ...flatSettings(sortedSettings(defaultSettings(clientType))),
});

const flatSettings = (settings: ApplicationRecord["settings"]): Record<string, unknown> =>
  Object.fromEntries(settingNames.map((member) => [member, settingOf(settings, member)]));

function consentSteps(
  current: Consent | undefined,
  { organisationConsent: wanted, settings }: ApplicationRecord,
  prune: boolean,
): ConsentStep[] {
  const held = requestableScopes(current?.scopes ?? [], settings.allowedScopes);
  const changes = changesOf({ scopes: held.length > 0 ? held : undefined }, { scopes: wanted });
  if (!current || held.length === 0) return wanted.length > 0 ? [{ act: "create", wanted, changes }] : [];
  if (wanted.length === 0) return [{ act: prune ? "remove" : "leave", current }];
  return [stepOf(current, wanted, changes)];
}

/** A pre-authorization can't be changed: its scopes are its identity. */
function preauthorizationSteps(
  effective: ReadonlyArray<readonly [Consent, readonly string[]]>,
  wanted: ApplicationRecord["preauthorizations"],
  prune: boolean,
): ConsentStep[] {
  const isSame = (a: readonly string[], b: readonly string[]) => isSubset(a, b) && isSubset(b, a);
  const steps = effective.flatMap(([current, scopes]): ConsentStep[] => {
    if (scopes.length === 0) return [];
    const same = wanted.find((one) => isSame(one, scopes));
    return same ? [{ act: "same", current, wanted: same }] : [{ act: prune ? "remove" : "leave", current }];
  });
  const missing = wanted.filter((one) => !effective.some(([, scopes]) => isSame(one, scopes)));
  return [
    ...steps,
    ...missing.map(
      (one): ConsentStep => ({ act: "create", wanted: one, changes: [{ member: "scopes", after: one }] }),
    ),
  ];
}

const stepOf = <Current, Wanted>(
  current: Current,
  wanted: Wanted,
  changes: readonly MemberChange[],
): Step<Current, Wanted> =>
  changes.length === 0 ? { act: "same", current, wanted } : { act: "change", current, wanted, changes };
