/**
 * Which application of the organisation a record of the file means. By its `id`, when the organisation has it; else by
 * its `externalKey`, which applying the file gave it; else by its name, when only one can be meant. An id of another
 * organisation says nothing here: applications are looked for in this one only.
 */
import type { FileFault } from "./organisation-file.ts";
import type { ApplicationRecord } from "./records.ts";
import type { ApplicationState } from "./state.ts";

export interface Match {
  readonly wanted: ApplicationRecord;
  /** Undefined: it is to be made. */
  readonly current: ApplicationState | undefined;
}

export interface Matching {
  readonly matches: readonly Match[];
  /** What the file does not speak of. */
  readonly others: readonly ApplicationState[];
  readonly faults: readonly FileFault[];
}

/** @param wanted in the order of the file, no two with the same id or key */
export function matchApplications(
  wanted: readonly ApplicationRecord[],
  states: readonly ApplicationState[],
): Matching {
  const byId = new Map(states.map((state) => [state.application.id, state]));
  const byKey = new Map(states.flatMap((state) => (state.externalKey ? [[state.externalKey, state]] : [])));
  const sure = wanted.map(
    ({ id, externalKey }) => (id && byId.get(id)) || (externalKey && byKey.get(externalKey)) || undefined,
  );
  const taken = new Set(sure);
  const byName = Map.groupBy(
    states.filter((state) => !taken.has(state)),
    ({ application }) => application.name,
  );
  const unsure = Map.groupBy(
    wanted.filter((_, index) => sure[index] === undefined),
    ({ name }) => name,
  );
  const faults: FileFault[] = [];
  const matches = wanted.map((record, index): Match => {
    const found = sure[index];
    if (found) return { wanted: record, current: found };
    const named = (byName.get(record.name) ?? []).filter((state) => mayBe(state, record));
    const alike = unsure.get(record.name) ?? [];
    const fault = nameFault(named.length, alike);
    if (fault !== undefined) faults.push({ path: `/applications/${index}/name`, message: fault });
    return { wanted: record, current: named[0] };
  });
  const meant = new Set(matches.map(({ current }) => current));
  return {
    matches,
    others: states.filter((state) => !meant.has(state)),
    faults: [...faults, ...matchFaults(matches, byKey)],
  };
}

/** What has another key is another application, whatever its name. */
const mayBe = ({ externalKey }: ApplicationState, record: ApplicationRecord): boolean =>
  externalKey === undefined || record.externalKey === undefined;

/** Two of one name that nothing tells apart would be made anew each time, or be taken for each other. */
function nameFault(named: number, alike: readonly ApplicationRecord[]): string | undefined {
  if (named > 1)
    return `the organisation has ${named} applications of this name: say which by id or externalKey`;
  const isClear = named === 0 && alike.every(({ externalKey }) => externalKey !== undefined);
  if (alike.length > 1 && !isClear)
    return "is there more than once: tell the applications apart by id or externalKey";
  return undefined;
}

function matchFaults(matches: readonly Match[], byKey: ReadonlyMap<string, ApplicationState>): FileFault[] {
  const first = new Map<ApplicationState, number>();
  return matches.flatMap(({ wanted, current }, index): FileFault[] => {
    const at = `/applications/${index}`;
    const holder = wanted.externalKey === undefined ? undefined : byKey.get(wanted.externalKey);
    // Whoever else of the file is that application gives the key up, or keeps another.
    const isGivenUp = holder && matches.some((other) => other.current === holder);
    if (holder && holder !== current && !isGivenUp)
      return [{ path: `${at}/externalKey`, message: `is that of application ${holder.application.id}` }];
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
