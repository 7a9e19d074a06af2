/** A remembered yes: of one user to one application, or of an administrator for everybody in the organisation. */
import { isSubset } from "@signet/protocol/scope";

export interface Consent {
  readonly orgId: string;
  readonly id: string;
  readonly kind: "user" | "organisation";
  readonly applicationId: string;
  readonly userId: string | null;
  readonly scopes: readonly string[];
  readonly grantedBy: string;
  readonly grantedAt: number;
}

/** The consent that a request for these scopes rests on; a subset of what was granted is covered. */
export function coveringConsent(
  consents: readonly Consent[],
  scopes: readonly string[],
): Consent | undefined {
  const covering = consents.filter((consent) => isSubset(scopes, consent.scopes));
  // The user's own comes first, so that taking it back has the effect that the user expects.
  return covering.find(({ kind }) => kind === "user") ?? covering[0];
}
