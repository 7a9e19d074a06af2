/**
 * A remembered yes: of one user to one application, or of an administrator for everybody in the organisation, given in
 * answer to nothing in particular (organisation-wide consent) or ahead of any request (pre-authorization).
 */
import { sha256Base64url } from "@signet/protocol/hash";
import { isSubset } from "@signet/protocol/oauth/scope";
import type { ConsentMode } from "../applications/application.ts";
import type { ScopeFingerprints } from "../scopes/custom-scope.ts";

export interface Consent {
  readonly orgId: string;
  readonly id: string;
  readonly kind: "user" | "organisation" | "preauthorization";
  readonly applicationId: string;
  readonly userId: string | null;
  readonly scopes: readonly string[];
  /** What the custom scopes gave when the user said yes. An administrator says yes to the scope, whatever it gives. */
  readonly fingerprints: ScopeFingerprints;
  readonly grantedBy: string;
  readonly grantedAt: number;
  readonly revokedAt: number | null;
}

/** What a request needs a yes for. */
export interface AskedScopes {
  readonly scopes: readonly string[];
  /** What the custom scopes among them give today. */
  readonly fingerprints: ScopeFingerprints;
}

/** What a page has asked for, as its form says it: a yes counts while the same would be asked. */
export const askedMark = ({ scopes, fingerprints }: AskedScopes): string =>
  sha256Base64url(JSON.stringify([scopes, Object.entries(fingerprints).sort()]));

/** The consent that a request rests on; a subset of what was granted is covered. */
export function coveringConsent(consents: readonly Consent[], asked: AskedScopes): Consent | undefined {
  const covering = consents.filter((consent) => covers(consent, asked));
  // The user's own comes first, so that taking it back has the effect that the user expects.
  return covering.find(({ kind }) => kind === "user") ?? covering[0];
}

export type ConsentStanding =
  /** Nobody has to be asked; null when the application needs no record at all. */
  | { readonly kind: "settled"; readonly consentId: string | null }
  | { readonly kind: "ask-user" }
  /** The users' own yes does not count. */
  | { readonly kind: "ask-administrator" };

/** A record that covers what is asked suffices in every mode; the mode says who is asked when there is none. */
export function consentStanding(
  mode: ConsentMode,
  consents: readonly Consent[],
  asked: AskedScopes,
): ConsentStanding {
  const counting = mode === "organisation" ? consents.filter(({ kind }) => kind !== "user") : consents;
  const covering = coveringConsent(counting, asked);
  if (covering) return { kind: "settled", consentId: covering.id };
  if (mode === "preauthorized") return { kind: "settled", consentId: null };
  return { kind: mode === "organisation" ? "ask-administrator" : "ask-user" };
}

function covers(consent: Consent, { scopes, fingerprints }: AskedScopes): boolean {
  if (!isSubset(scopes, consent.scopes)) return false;
  if (consent.kind !== "user") return true;
  return Object.entries(fingerprints).every(([scope, gives]) => {
    const gave = Object.hasOwn(consent.fingerprints, scope) ? (consent.fingerprints[scope] ?? []) : [];
    // A scope that gives less than it did needs no new yes.
    return isSubset(gives, gave);
  });
}
