/**
 * The requests whose user passed a challenge, for a while: tokens that are signed anew in their place, without a browser,
 * need no second one (`parentRequestId`, sovereign-signing.md §4).
 */
import { isSubset } from "@signet/protocol/oauth/scope";

export interface Approvals {
  remember(requestId: string, approval: Approval): void;
  /**
   * Whether the user of this request passed a challenge for the same client, in the last quarter of an hour, and for no
   * less than is wanted now: a service must not get more out of it than the user was asked for.
   */
  has(requestId: string, wanted: Approved): boolean;
}

/** What the user said yes to, as it stands in the access token. */
export interface Approved {
  readonly clientId: string;
  readonly sub: string;
  readonly aud: readonly string[];
  /** Undefined for a line of a journal that does not say. */
  readonly scopes: readonly string[] | undefined;
}

export interface Approval extends Approved {
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
    has: (requestId, wanted) => {
      const found = kept.get(requestId);
      return found !== undefined && found.at > clock() - KEPT_MS && covers(found, wanted);
    },
  };
}

const covers = (found: Approved, { clientId, sub, aud, scopes = [] }: Approved): boolean =>
  found.clientId === clientId &&
  found.sub === sub &&
  isSubset(aud, found.aud) &&
  (found.scopes === undefined || isSubset(scopes, found.scopes));
