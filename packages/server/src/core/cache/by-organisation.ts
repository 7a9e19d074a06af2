/**
 * A bounded map whose entries belong to organisations: a change of one organisation finds its own without walking the
 * others'. When it is full, the organisation that has got nothing new for longest loses its oldest entry.
 */
export interface ByOrganisation<T> {
  get(orgId: string, id: string): T | undefined;
  set(orgId: string, id: string, entry: T): void;
  deleteOrganisation(orgId: string): void;
  clear(): void;
}

/** Most have one entry: a map of its own for it would weigh more than many a record. */
interface Only<T> {
  readonly id: string;
  readonly entry: T;
}

export function byOrganisation<T>(capacity: number): ByOrganisation<T> {
  const organisations = new Map<string, Only<T> | Map<string, T>>();
  let size = 0;

  const deleteOldest = () => {
    for (const [orgId, entries] of organisations) {
      size--;
      if (entries instanceof Map && entries.size > 1) deleteFirst(entries);
      else organisations.delete(orgId);
      return;
    }
  };

  return {
    get: (orgId, id) => {
      const entries = organisations.get(orgId);
      if (entries instanceof Map) return entries.get(id);
      return entries?.id === id ? entries.entry : undefined;
    },
    set: (orgId, id, entry) => {
      const isKnown = holds(organisations.get(orgId), id);
      if (!isKnown && size >= capacity) deleteOldest();
      const entries = organisations.get(orgId);
      organisations.delete(orgId);
      organisations.set(orgId, withEntry(entries, { id, entry }));
      if (!isKnown) size++;
    },
    deleteOrganisation: (orgId) => {
      size -= countOf(organisations.get(orgId));
      organisations.delete(orgId);
    },
    clear: () => {
      organisations.clear();
      size = 0;
    },
  };
}

type Entries<T> = Only<T> | Map<string, T> | undefined;

const holds = <T>(entries: Entries<T>, id: string): boolean =>
  entries instanceof Map ? entries.has(id) : entries?.id === id;

function countOf<T>(entries: Entries<T>): number {
  if (entries === undefined) return 0;
  return entries instanceof Map ? entries.size : 1;
}

/** With the new one as the newest. */
function withEntry<T>(entries: Entries<T>, added: Only<T>): Only<T> | Map<string, T> {
  if (entries === undefined || (!(entries instanceof Map) && entries.id === added.id)) return added;
  const map = entries instanceof Map ? entries : new Map([[entries.id, entries.entry]]);
  map.delete(added.id);
  return map.set(added.id, added.entry);
}

function deleteFirst<T>(entries: Map<string, T>): void {
  for (const id of entries.keys()) {
    entries.delete(id);
    return;
  }
}
