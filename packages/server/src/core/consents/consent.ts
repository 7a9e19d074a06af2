/**
 * Consent to an application's scopes: by a user, by an administrator for all users (organisation-wide), or ahead of any
 * request (pre-authorization).
 */
import { sha256Base64url } from "@signet/protocol/hash";
import { isSubset } from "@signet/protocol/oauth/scope";
import type { ConsentMode } from "../applications/application.ts";
import type { AuthorizationDetail } from "../authorization-details/detail-type.ts";
import type { TemplatePart } from "../authorization-details/template.ts";
import type { ScopeFingerprints } from "../scopes/custom-scope.ts";
import type { ScopeDefinitions } from "../scopes/scope-definitions.ts";

export interface Consent {
  readonly orgId: string;
  readonly id: string;
  readonly kind: "user" | "organisation" | "preauthorization";
  readonly applicationId: string;
  readonly userId: string | null;
  /** While it is active: without those that were deleted or made anew since (scope-definitions.ts). */
  readonly scopes: readonly string[];
  /** The claims of the custom scopes at the time of the user's consent. An administrator consents to any claims. */
  readonly fingerprints: ScopeFingerprints;
  readonly grantedBy: string;
  readonly grantedAt: number;
  /** Scopes may have been added since. */
  readonly createdAt: number;
  readonly revokedAt: number | null;
}

/** A pre-authorization as a consent. */
export const preauthorization = (
  given: Pick<Consent, "orgId" | "id" | "applicationId" | "scopes" | "grantedBy" | "grantedAt">,
): Consent => ({
  ...{ ...given, kind: "preauthorization", userId: null, fingerprints: {} },
  ...{ createdAt: given.grantedAt, revokedAt: null },
});

export interface RequestedScopes extends Pick<Consent, "scopes" | "fingerprints"> {
  readonly definitions: ScopeDefinitions;
  /** Authorization details in the words of their types: asked for each time, whatever was consented to before. */
  readonly details?: readonly DescribedDetail[];
}

/** RFC 9396. */
export interface DescribedDetail {
  readonly detail: AuthorizationDetail;
  readonly displayName: string;
  readonly text: readonly TemplatePart[];
}

type Covered = Pick<RequestedScopes, "scopes" | "fingerprints">;

/** Hash of what a consent page shows: its form is accepted while the request is unchanged. */
export const consentRequestHash = ({
  scopes,
  fingerprints,
  definitions,
  details = [],
}: RequestedScopes): string =>
  sha256Base64url(
    JSON.stringify([
      ...[scopes, Object.entries(fingerprints).sort(), Object.entries(definitions).sort()],
      ...(details.length > 0 ? [details] : []),
    ]),
  );

/** The consent that covers the request, also as a subset of its scopes. */
export function coveringConsent(consents: readonly Consent[], asked: Covered): Consent | undefined {
  const covering = consents.filter((consent) => covers(consent, asked));
  // The user's own first, so that revoking it has the expected effect.
  return covering.find(({ kind }) => kind === "user") ?? covering[0];
}

export type ConsentStatus =
  /** No consent page; the id is null if the application needs no consent. */
  | { readonly kind: "settled"; readonly consentId: string | null }
  | { readonly kind: "ask-user" }
  | { readonly kind: "ask-administrator" };

/** A covering consent suffices in every mode; without one the mode decides who consents. */
export function consentStatus(
  mode: ConsentMode,
  consents: readonly Consent[],
  asked: Covered,
): ConsentStatus {
  const counting = mode === "organisation" ? consents.filter(({ kind }) => kind !== "user") : consents;
  const covering = coveringConsent(counting, asked);
  if (covering) return { kind: "settled", consentId: covering.id };
  if (mode === "preauthorized") return { kind: "settled", consentId: null };
  return { kind: mode === "organisation" ? "ask-administrator" : "ask-user" };
}

function covers(consent: Consent, { scopes, fingerprints }: Covered): boolean {
  if (!isSubset(scopes, consent.scopes)) return false;
  if (consent.kind !== "user") return true;
  return Object.entries(fingerprints).every(([scope, claims]) => {
    const consented = Object.hasOwn(consent.fingerprints, scope) ? (consent.fingerprints[scope] ?? []) : [];
    // A scope with fewer claims than before needs no new consent.
    return isSubset(claims, consented);
  });
}
