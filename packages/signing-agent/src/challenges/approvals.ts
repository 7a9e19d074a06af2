/**
 * Challenges that users passed in the last quarter of an hour: tokens signed again for the same sign-in, without a browser,
 * need no second one (`parentRequestId`, sovereign-signing.md §4).
 */
import { isSubset } from "@signet/protocol/oauth/scope";

/** What the user approved, as the access token states it. */
export interface Approved {
  readonly clientId: string;
  readonly sub: string;
  readonly aud: readonly string[];
  /** Undefined for a journal entry without scopes: stands for all of them. */
  readonly scopes: readonly string[] | undefined;
}

export interface Approval extends Approved {
  /** Milliseconds. */
  readonly at: number;
}

/** A code lives ten minutes (specification); the signing of its tokens may have begun five minutes earlier. */
const LIFETIME_MS = 15 * 60_000;

export type Approvals = ReturnType<typeof approvals>;

export function approvals(clock: () => number) {
  const remembered = new Map<string, Approval>();
  return {
    remember: (requestId: string, approval: Approval): void => {
      const expiry = clock() - LIFETIME_MS;
      // The map is in order of time.
      for (const [id, { at }] of remembered) {
        if (at > expiry) break;
        remembered.delete(id);
      }
      if (approval.at > expiry) remembered.set(requestId, approval);
    },
    /** A service must not get more than the user was asked for: same client and user, no further audience or scope. */
    covers: (requestId: string, { clientId, sub, aud, scopes = [] }: Approved): boolean => {
      const approval = remembered.get(requestId);
      return (
        approval !== undefined &&
        approval.at > clock() - LIFETIME_MS &&
        approval.clientId === clientId &&
        approval.sub === sub &&
        isSubset(aud, approval.aud) &&
        (approval.scopes === undefined || isSubset(scopes, approval.scopes))
      );
    },
  };
}
