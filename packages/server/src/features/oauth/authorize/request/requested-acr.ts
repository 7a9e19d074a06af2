/**
 * The authentication level of a request (wire-contract.md §2, "Step-up"; RFC 9470). `acr_values` is a preference; an
 * essential `acr` claim and the application's setting are requirements.
 */
import type { ApplicationSettings } from "../../../../core/applications/application.ts";
import type { RequestedClaims } from "../../../../core/scopes/requested-claims.ts";
import { type Assurance, assurance, toAssurance } from "../../../../core/sessions/session.ts";

export interface RequestedAcr {
  /** `acr` as an essential claim: one of these must be reached and is the token's `acr`. */
  readonly essential: readonly string[] | undefined;
  readonly required: string | undefined;
  /** `acr_values`, and `acr` as a voluntary claim, in order of preference. */
  readonly preferred: readonly string[];
}

export const noRequestedAcr: RequestedAcr = { essential: undefined, required: undefined, preferred: [] };

export function readRequestedAcr(
  acrValues: string | undefined,
  { idToken }: RequestedClaims,
  { requiredAcr }: Pick<ApplicationSettings, "requiredAcr">,
): RequestedAcr {
  const claim = Object.hasOwn(idToken, "acr") ? idToken["acr"] : undefined;
  const named = claim?.values?.filter((value) => typeof value === "string");
  const listed = (acrValues ?? "").split(" ").filter((value) => value !== "");
  return {
    // Essential without values requests the claim only, and it is always present.
    essential: claim?.essential && claim.values?.length ? named : undefined,
    required: requiredAcr,
    preferred: [...listed, ...(claim?.essential ? [] : (named ?? []))],
  };
}

/** The minimum of the requirements; undefined when none of the values is supported. */
export function requiredAssurance({ essential, required }: RequestedAcr): Assurance | undefined {
  const accepted = essential?.map(toAssurance).filter((level) => level !== assurance.none);
  const essentialMinimum = accepted === undefined ? assurance.none : Math.min(...accepted);
  const minimum = required === undefined ? assurance.none : toAssurance(required);
  const isUnsupported =
    !Number.isFinite(essentialMinimum) || (required !== undefined && minimum === assurance.none);
  return isUnsupported ? undefined : (Math.max(essentialMinimum, minimum) as Assurance);
}

export const preferredAssurances = ({ preferred }: RequestedAcr): Assurance[] =>
  preferred.map(toAssurance).filter((level) => level !== assurance.none);

/**
 * The `acr` of the tokens: the requested value that the session reaches, which clients and resource servers compare with
 * their request (OpenID Connect Core §5.5.1.1, RFC 9470 §6); otherwise the session's own.
 */
export function reportedAcr({ essential, required, preferred }: RequestedAcr, sessionAcr: string): string {
  const reached = toAssurance(sessionAcr);
  const isReached = (acr: string) => toAssurance(acr) !== assurance.none && toAssurance(acr) <= reached;
  const minimum = required === undefined ? assurance.none : toAssurance(required);
  return (
    essential?.find(isReached) ??
    preferred.find((acr) => isReached(acr) && toAssurance(acr) >= minimum) ??
    sessionAcr
  );
}
