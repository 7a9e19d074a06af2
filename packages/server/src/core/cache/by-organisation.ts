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

export function byOrganisation<T>(capacity: number): ByOrganisation<T> {
  const organisations = new Map<string, Map<string, T>>();
  let size = 0;

  const deleteOldest = () => {
    for (const [orgId, entries] of organisations) {
      for (const id of entries.keys()) {
        entries.delete(id);
        break;
      }
      if (entries.size === 0) organisations.delete(orgId);
      size--;
      return;
    }
  };

  return {
    get: (orgId, id) => organisations.get(orgId)?.get(id),
    set: (orgId, id, entry) => {
      if (organisations.get(orgId)?.delete(id)) size--;
      else if (size >= capacity) deleteOldest();
      const entries = organisations.get(orgId) ?? new Map<string, T>();
      organisations.delete(orgId);
      organisations.set(orgId, entries.set(id, entry));
      size++;
    },
    deleteOrganisation: (orgId) => {
      size -= organisations.get(orgId)?.size ?? 0;
      organisations.delete(orgId);
    },
    clear: () => {
      organisations.clear();
      size = 0;
    },
  };
}
