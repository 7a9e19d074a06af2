/**
 * How records of a file name applications: by externalKey, by a name that no other has, else by id. Of one that the file makes the
 * id is known when it is there.
 */
import { isUuid } from "@signet/protocol/hash";
import type { FileRecord, Section } from "./section.ts";

export interface References {
  /** Of what the file says. @returns undefined when it names none, or more than one */
  resolve(text: string): string | undefined;
  /** How a file names the application with this id. */
  nameOf(id: string): string;
  /** @param name as `resolve` returns it */
  locate(name: string): { readonly id: string | undefined; readonly index: number | undefined };
  /** @param name as `resolve` returns it. @param made ids of the file's applications, in its order */
  idOf(name: string, made: ReadonlyArray<string | undefined>): string;
}

interface Named {
  /** In this organisation; undefined for one that is to be made. */
  readonly id: string | undefined;
  /** As the file says, which may be another organisation's. */
  readonly writtenId: string | undefined;
  readonly externalKey: string | undefined;
  readonly name: string;
  /** In the file's order. */
  readonly index: number | undefined;
}

/** An application of the organisation. */
interface Known {
  readonly application: { readonly id: string; readonly name: string };
  readonly externalKey: string | undefined;
}

/** One of the file, and which of the organisation's it is. */
interface Matched {
  readonly wanted: Pick<Named, "externalKey" | "name"> & { readonly id: string | undefined };
  readonly current: Known | undefined;
}

/** @param kept applications that the file does not have, and that stay */
export function references(matches: readonly Matched[], kept: readonly Known[]): References {
  const all: Named[] = [
    ...matches.map(({ wanted, current }, index) => ({
      ...{ id: current?.application.id, writtenId: wanted.id },
      ...{ externalKey: wanted.externalKey, name: wanted.name, index },
    })),
    ...kept.map(({ application: { id, name }, externalKey }) => ({
      ...{ id, writtenId: undefined, externalKey, name, index: undefined },
    })),
  ];
  const byId = new Map(all.map((one) => [one.id, one]));
  const byWrittenId = new Map(all.map((one) => [one.writtenId, one]));
  const byKey = new Map(all.map((one) => [one.externalKey, one]));
  const byName = Map.groupBy(all, ({ name }) => name);
  const only = (name: string): Named | undefined => {
    const [one, ...others] = byName.get(name) ?? [];
    return others.length === 0 ? one : undefined;
  };
  const canonical = (one: Named): string =>
    one.externalKey ?? (only(one.name) ? one.name : (one.id ?? one.writtenId ?? ""));
  const find = (text: string): Named | undefined =>
    byId.get(text.toLowerCase()) ?? byWrittenId.get(text.toLowerCase()) ?? byKey.get(text) ?? only(text);
  const nameOf = (id: string): string => {
    const one = byId.get(id);
    return one ? canonical(one) : id;
  };
  return {
    nameOf,
    resolve: (text) => {
      const one = find(text);
      // Those that no file has: of other organisations, or that registered themselves.
      return one ? canonical(one) : isUuid(text) ? text.toLowerCase() : undefined;
    },
    locate: (name) => {
      const one = find(name);
      return { id: one?.id, index: one?.index };
    },
    idOf: (name, made) => {
      const one = find(name);
      return (one?.index === undefined ? undefined : made[one.index]) ?? one?.id ?? name;
    },
  };
}

/** The record with each reference changed. */
export function mapReferences(
  { references: members }: Section,
  record: FileRecord,
  change: (reference: string, path: string) => string,
): FileRecord {
  const changed = members.flatMap((member) => {
    const value = record[member];
    if (typeof value === "string") return [[member, change(value, member)]];
    if (!Array.isArray(value)) return [];
    return [[member, value.map((one, index) => change(String(one), `${member}/${index}`)).sort()]];
  });
  return { ...record, ...Object.fromEntries(changed) };
}
