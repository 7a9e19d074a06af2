/**
 * Records of a file beside scopes and applications: each section is a list of them, compared and applied in one way. What tells a
 * section from another is in the file of its own.
 */

import type { Db } from "../../../db/open.ts";
import { canonicalJson } from "../../authorization-details/details.ts";
import type { RecordDeps } from "../../record-changes.ts";

/** Under the names of the API; what is unset is left out. */
export type FileRecord = Readonly<Record<string, unknown>>;

/** As `kind` of a difference. */
export const sectionKinds = [
  ...(["authorization-detail-type", "resource", "client-policy"] as const),
  ...(["client-authority", "trust", "token-exchange-policy"] as const),
] as const;
export type SectionKind = (typeof sectionKinds)[number];

export interface StoredRecord {
  readonly id: string;
  readonly record: FileRecord;
}

export interface SectionDeps extends RecordDeps {
  readonly baseUrl: string;
}

/** Who applies, and in which organisation. */
export interface SectionAct {
  readonly orgId: string;
  readonly actor: string;
  readonly address?: string;
}

export interface MemberFault {
  /** `claims[0].name`, or a JSON Pointer without its first slash. */
  readonly path: string;
  readonly message: string;
}

export interface Section {
  /** In `changes`, and for people. */
  readonly kind: SectionKind;
  /** Of a new record; members that are so are not shown. */
  readonly defaults: FileRecord;
  /** Of two records with one key the file has a fault, unless it is no more than their likeness. */
  readonly isUnique: boolean;
  /** Members that name applications: one, or a list of them. */
  readonly references: readonly string[];
  keyOf(record: FileRecord): string;
  nameOf(record: FileRecord): string;
  /** Of what the file says: with defaults, in one order. */
  normalise(item: FileRecord): FileRecord;
  /** What can be said without the organisation. @throws an error that `memberFaults` reads */
  check(record: FileRecord): void;
  /** Oldest first. References are ids. */
  read(db: Db, orgId: string): Promise<StoredRecord[]>;
  /** References are ids. */
  create(deps: SectionDeps, act: SectionAct, record: FileRecord): Promise<unknown>;
  change(deps: SectionDeps, act: SectionAct, id: string, record: FileRecord): Promise<unknown>;
  remove(deps: SectionDeps, act: SectionAct, id: string): Promise<unknown>;
  /** Before any record is created or changed: gives up what another one takes. */
  release?(deps: SectionDeps, act: SectionAct, id: string, record: FileRecord): Promise<unknown>;
}

/** Members in one order of their own members too, without those that are unset; texts of the named lists are sets. */
export function toFileRecord(settings: object, sets: readonly string[] = []): FileRecord {
  const members = Object.entries(settings).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(
    members.map(([name, value]) => [
      name,
      sets.includes(name)
        ? [...new Set(value as string[])].sort()
        : (JSON.parse(canonicalJson(value)) as unknown),
    ]),
  );
}

/** A text member, for names and keys. */
export const textOf = (record: FileRecord, name: string): string => String(record[name] ?? "");

/** What an error of the rules says of a record; undefined for another error. */
export function memberFaults(
  error: unknown,
  known: ReadonlyArray<abstract new (...args: never[]) => Error>,
): readonly MemberFault[] | undefined {
  if (!(error instanceof Error) || !known.some((one) => error instanceof one)) return undefined;
  if ("faults" in error && Array.isArray(error.faults)) return error.faults as MemberFault[];
  const member = "member" in error ? String(error.member) : "";
  return [{ path: member, message: error.message }];
}

/** `claims[0].name` or `claims/0/name`: below the record. */
export const pointerOf = (at: string, path: string): string =>
  path === "" ? at : `${at}/${path.replaceAll(/\[(\d+)\]/g, ".$1").replaceAll(".", "/")}`;
