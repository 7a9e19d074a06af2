/**
 * Matches the applications of a file with those of the organisation: by `id` if it exists there, else by
 * `externalKey`, which an earlier application of the file set, else by a unique name. Ids of other organisations
 * match nothing.
 */
import type { FileFault } from "./organisation-file.ts";
import type { ApplicationRecord } from "./records.ts";
import type { ApplicationState } from "./state.ts";

export interface Match {
  readonly wanted: ApplicationRecord;
  /** Undefined: to be created. */
  readonly current: ApplicationState | undefined;
}

export interface Matching {
  readonly matches: readonly Match[];
  /** Applications that the file doesn't name. */
  readonly others: readonly ApplicationState[];
  readonly faults: readonly FileFault[];
}

/** @param wanted in the order of the file, with unique ids and keys */
export function matchApplications(
  wanted: readonly ApplicationRecord[],
  states: readonly ApplicationState[],
): Matching {
  const byId = new Map(states.map((state) => [state.application.id, state]));
  const byKey = new Map(states.flatMap((state) => (state.externalKey ? [[state.externalKey, state]] : [])));
  const certain = wanted.map(
    ({ id, externalKey }) => (id && byId.get(id)) || (externalKey && byKey.get(externalKey)) || undefined,
  );
  const taken = new Set(certain);
  const byName = Map.groupBy(
    states.filter((state) => !taken.has(state)),
    ({ application }) => application.name,
  );
  const ambiguous = Map.groupBy(
    wanted.filter((_, index) => certain[index] === undefined),
    ({ name }) => name,
  );
  const faults: FileFault[] = [];
  const matches = wanted.map((record, index): Match => {
    const found = certain[index];
    if (found) return { wanted: record, current: found };
    const named = (byName.get(record.name) ?? []).filter((state) => canMatch(state, record));
    const sameName = ambiguous.get(record.name) ?? [];
    const fault = nameFault(named.length, sameName);
    if (fault !== undefined) faults.push({ path: `/applications/${index}/name`, message: fault });
    return { wanted: record, current: named[0] };
  });
  const matched = new Set(matches.map(({ current }) => current));
  return {
    matches,
    others: states.filter((state) => !matched.has(state)),
    faults: [...faults, ...matchFaults(matches, byKey)],
  };
}

/** A different key means a different application, whatever its name. */
const canMatch = ({ externalKey }: ApplicationState, record: ApplicationRecord): boolean =>
  externalKey === undefined || record.externalKey === undefined;

/** Applications of the same name without id or key would be created again each time, or be confused. */
function nameFault(named: number, sameName: readonly ApplicationRecord[]): string | undefined {
  if (named > 1) return `the organisation has ${named} applications with this name: add an id or externalKey`;
  const isClear = named === 0 && sameName.every(({ externalKey }) => externalKey !== undefined);
  if (sameName.length > 1 && !isClear)
    return "is a duplicate: distinguish the applications by id or externalKey";
  return undefined;
}

function matchFaults(matches: readonly Match[], byKey: ReadonlyMap<string, ApplicationState>): FileFault[] {
  const first = new Map<ApplicationState, number>();
  return matches.flatMap(({ wanted, current }, index): FileFault[] => {
    const at = `/applications/${index}`;
    const holder = wanted.externalKey === undefined ? undefined : byKey.get(wanted.externalKey);
    // Unless the file gives that application another key, or none.
    const isReleased = holder && matches.some((other) => other.current === holder);
    if (holder && holder !== current && !isReleased)
      return [{ path: `${at}/externalKey`, message: `belongs to application ${holder.application.id}` }];
    if (!current) return [];
    const before = first.get(current);
    first.set(current, before ?? index);
    if (before !== undefined)
      return [{ path: at, message: `is the same application as /applications/${before}` }];
    if (current.application.clientType !== wanted.clientType)
      return [
        { path: `${at}/clientType`, message: `is ${current.application.clientType} and cannot be changed` },
      ];
    return [];
  });
}
