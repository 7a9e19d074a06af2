/** What applying a file does to the records of its sections: checked, compared, applied, exported. */
import { isDeepStrictEqual } from "node:util";
import type { Db } from "../../../db/open.ts";
import { DetailTypeConflict, InvalidDetailType } from "../../authorization-details/detail-types.ts";
import { InvalidClientAuthority } from "../../client-authorities/client-authority.ts";
import { InvalidPolicy } from "../../client-metadata/client-policy.ts";
import { InvalidResource, ResourceConflict } from "../../protected-resources/protected-resource.ts";
import {
  InvalidExchangePolicy,
  TooManyPolicies,
  UnknownPolicyClient,
} from "../../token-exchange/exchange-policy.ts";
import { InvalidTrust, TrustConflict, UnknownTrustReference } from "../../trusts/trust.ts";
import { changesOf, newMembers } from "../member-changes.ts";
import { type FileFault, InvalidFile, type OrganisationFile } from "../organisation-file.ts";
import type { Step } from "../step.ts";
import { type SectionName, sectionNames, sections } from "./all-sections.ts";
import { mapReferences, type References } from "./references.ts";
import {
  type FileRecord,
  memberFaults,
  pointerOf,
  type Section,
  type SectionAct,
  type SectionDeps,
  type StoredRecord,
} from "./section.ts";

export type SectionState = Readonly<Record<SectionName, readonly StoredRecord[]>>;
export type SectionStep = Step<StoredRecord, FileRecord>;

export interface SectionSteps {
  readonly name: SectionName;
  /** Those that the file has come first, in its order. */
  readonly steps: readonly SectionStep[];
}

/** An error of these is about the record. */
const known = [
  ...[DetailTypeConflict, InvalidDetailType, InvalidClientAuthority, InvalidPolicy, InvalidResource],
  ...[ResourceConflict, InvalidExchangePolicy, TooManyPolicies, UnknownPolicyClient],
  ...[InvalidTrust, TrustConflict, UnknownTrustReference],
];

export async function readSections(db: Db, orgId: string): Promise<SectionState> {
  const read: Array<readonly [SectionName, StoredRecord[]]> = [];
  for (const name of sectionNames) read.push([name, await sections[name].read(db, orgId)]);
  return Object.fromEntries(read) as Record<SectionName, StoredRecord[]>;
}

/** The section of a file; undefined for one that it does not have. */
function itemsOf(file: OrganisationFile, name: SectionName): readonly FileRecord[] | undefined {
  const given: FileRecord | readonly FileRecord[] | undefined = file[name];
  if (given === undefined) return undefined;
  return Array.isArray(given) ? given : [given as FileRecord];
}

const addressOf = (name: SectionName, index: number): string =>
  name === "clientIdMetadataPolicy" ? `/${name}` : `/${name}/${index}`;

/**
 * What can be said without the organisation.
 * @param broken JSON Pointers of sections and records that have faults of their form, which are not looked at further
 */
export function sectionFaults(file: OrganisationFile, broken: ReadonlySet<string>): FileFault[] {
  const isWellFormed = (at: string) => ![...broken].some((path) => `${path}/`.startsWith(`${at}/`));
  return sectionNames.flatMap((name) => {
    if (broken.has(`/${name}`)) return [];
    const section: Section = sections[name];
    const first = new Map<string, string>();
    return (itemsOf(file, name) ?? []).flatMap((item, index): FileFault[] => {
      const at = addressOf(name, index);
      if (!isWellFormed(at)) return [];
      const record = section.normalise(item);
      const key = section.keyOf(record);
      const before = first.get(key);
      first.set(key, before ?? at);
      const isDouble = section.isUnique && before !== undefined;
      return isDouble
        ? [{ path: at, message: `is the same record as ${before}` }]
        : checked(section, record, at);
    });
  });
}

function checked(section: Section, record: FileRecord, at: string): FileFault[] {
  try {
    section.check(record);
    return [];
  } catch (error) {
    return faultsAt(error, at) ?? rethrow(error);
  }
}

const rethrow = (error: unknown): never => {
  throw error;
};

const faultsAt = (error: unknown, at: string): FileFault[] | undefined =>
  memberFaults(error, known)?.map(({ path, message }) => ({ path: pointerOf(at, path), message }));

/** @throws InvalidFile for a reference to no application */
export function compareSections(
  state: SectionState,
  file: OrganisationFile,
  { prune, applications }: { readonly prune: boolean; readonly applications: References },
): SectionSteps[] {
  const faults: FileFault[] = [];
  const compared = sectionNames.map((name): SectionSteps => {
    const section: Section = sections[name];
    const items = itemsOf(file, name);
    const stored = state[name].map(({ id, record }) => ({
      ...{ id, record: mapReferences(section, record, applications.nameOf) },
    }));
    const wanted = (items ?? []).map((item, index) =>
      mapReferences(section, section.normalise(item), (text, member) => {
        const found = applications.resolve(text);
        const message = "names no application, or more than one: use its externalKey or id";
        if (found === undefined) faults.push({ path: `${addressOf(name, index)}/${member}`, message });
        return found ?? text;
      }),
    );
    return { name, steps: stepsOf(section, stored, wanted, prune && items !== undefined) };
  });
  if (faults.length > 0) throw new InvalidFile(faults);
  return compared;
}

/** Those of one key are told apart by what they say; what is left of them is paired in their order. */
function stepsOf(
  section: Section,
  stored: readonly StoredRecord[],
  wanted: readonly FileRecord[],
  removesOthers: boolean,
): SectionStep[] {
  const rest = Map.groupBy(stored, ({ record }) => section.keyOf(record));
  const take = (record: FileRecord, isMatch: (other: StoredRecord) => boolean) => {
    const alike = rest.get(section.keyOf(record)) ?? [];
    const at = alike.findIndex(isMatch);
    return at < 0 ? undefined : alike.splice(at, 1)[0];
  };
  const same = wanted.map((record) => take(record, (other) => isDeepStrictEqual(other.record, record)));
  const steps = wanted.map((record, index): SectionStep => {
    const equal = same[index];
    if (equal) return { act: "same", current: equal, wanted: record };
    const current = take(record, () => true);
    return current
      ? { act: "change", current, wanted: record, changes: changesOf(current.record, record) }
      : { act: "create", wanted: record, changes: newMembers(section.defaults, record) };
  });
  const act = removesOthers ? "remove" : "leave";
  return [...steps, ...[...rest.values()].flat().map((current): SectionStep => ({ act, current }))];
}

export interface ApplyingSections {
  readonly deps: SectionDeps;
  readonly act: SectionAct;
  readonly applications: References;
  /** Ids of the file's applications, in its order. */
  readonly made: ReadonlyArray<string | undefined>;
}

/** @throws InvalidFile for what the organisation has not, or may not have */
export async function applySections(
  { deps, act, applications, made }: ApplyingSections,
  compared: readonly SectionSteps[],
): Promise<void> {
  for (const { name, steps } of compared) {
    const section: Section = sections[name];
    const withIds = (record: FileRecord) =>
      mapReferences(section, record, (reference) => applications.idOf(reference, made));
    for (const step of steps) if (step.act === "remove") await section.remove(deps, act, step.current.id);
    for (const step of steps)
      if (step.act === "change") await section.release?.(deps, act, step.current.id, step.wanted);
    for (const [index, step] of steps.entries())
      try {
        if (step.act === "create") await section.create(deps, act, withIds(step.wanted));
        if (step.act === "change") await section.change(deps, act, step.current.id, withIds(step.wanted));
      } catch (error) {
        const faults = faultsAt(error, addressOf(name, index));
        throw faults ? new InvalidFile(faults) : error;
      }
  }
}

/** In an order that no organisation's ids change. A section without records is left out, as other organisations' are no part of it. */
export function exportSections(
  state: SectionState,
  applications: Pick<References, "nameOf">,
): Partial<OrganisationFile> {
  const written = sectionNames.flatMap((name) => {
    const section: Section = sections[name];
    const records = state[name]
      .map(({ record }) => mapReferences(section, record, applications.nameOf))
      .map((record) => [`${section.keyOf(record)} ${JSON.stringify(record)}`, record] as const)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([, record]) => record);
    if (records.length === 0) return [];
    return [[name, name === "clientIdMetadataPolicy" ? records[0] : records]];
  });
  return Object.fromEntries(written) as Partial<OrganisationFile>;
}
