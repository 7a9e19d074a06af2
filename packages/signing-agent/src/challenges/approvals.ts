/**
 * The requests whose user passed a challenge, for a while: tokens that are signed anew in their place, without a browser,
 * need no second one (`parentRequestId`, sovereign-signing.md §4).
 */
export interface Approvals {
  remember(requestId: string, approval: Approval): void;
  /** Whether the user of this request passed a challenge for the same client, in the last quarter of an hour. */
  has(requestId: string, approval: Omit<Approval, "at">): boolean;
}

export interface Approval {
  readonly clientId: string;
  readonly sub: string;
  /** Milliseconds. */
  readonly at: number;
}

/** A code lives ten minutes (specification); the signing of its tokens may have begun five minutes before. */
const KEPT_MS = 15 * 60_000;

export function approvals(clock: () => number): Approvals {
  const kept = new Map<string, Approval>();
  return {
    remember: (requestId, approval) => {
      const old = clock() - KEPT_MS;
      // Oldest first, as they came.
      for (const [id, { at }] of kept) {
        if (at > old) break;
        kept.delete(id);
      }
      if (approval.at > old) kept.set(requestId, approval);
    },
    has: (requestId, { clientId, sub }) => {
      const found = kept.get(requestId);
      return found?.clientId === clientId && found.sub === sub && found.at > clock() - KEPT_MS;
    },
  };
}
