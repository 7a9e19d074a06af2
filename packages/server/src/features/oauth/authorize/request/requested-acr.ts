/**
 * How strong a sign-in the request wants (wire-contract.md §2, "Step-up"; RFC 9470). `acr_values` is a wish; an essential
 * `acr` in the `claims` parameter, and the application's own setting, are demands.
 */
import type { ApplicationSettings } from "../../../../core/applications/application.ts";
import type { RequestedClaims } from "../../../../core/scopes/requested-claims.ts";
import { type Assurance, assurance, assuranceOf } from "../../../../core/sessions/assurance.ts";

export interface RequestedAcr {
  /** `acr` as an essential claim: one of these must be reached, and named in the token. */
  readonly essential: readonly string[] | undefined;
  /** The application's own demand: at least as much. */
  readonly required: string | undefined;
  /** `acr_values`, and `acr` as a voluntary claim: best first. */
  readonly wished: readonly string[];
}

export const noRequestedAcr: RequestedAcr = { essential: undefined, required: undefined, wished: [] };

export function readRequestedAcr(
  acrValues: string | undefined,
  { idToken }: RequestedClaims,
  { requiredAcr }: Pick<ApplicationSettings, "requiredAcr">,
): RequestedAcr {
  const claim = Object.hasOwn(idToken, "acr") ? idToken["acr"] : undefined;
  const named = claim?.values?.filter((value) => typeof value === "string");
  const listed = (acrValues ?? "").split(" ").filter((value) => value !== "");
  return {
    // Essential without values asks for the claim, and it is always there.
    essential: claim?.essential && claim.values?.length ? named : undefined,
    required: requiredAcr,
    wished: [...listed, ...(claim?.essential ? [] : (named ?? []))],
  };
}

/** The least that the demands accept; undefined when they name nothing that can be reached here. */
export function demandedAssurance({ essential, required }: RequestedAcr): Assurance | undefined {
  const accepted = essential?.map(assuranceOf).filter((level) => level !== assurance.none);
  const named = accepted === undefined ? assurance.none : Math.min(...accepted);
  const own = required === undefined ? assurance.none : assuranceOf(required);
  const isUnknown = !Number.isFinite(named) || (required !== undefined && own === assurance.none);
  return isUnknown ? undefined : (Math.max(named, own) as Assurance);
}

/** The wishes that mean something here, best first. */
export const wishedAssurances = ({ wished }: RequestedAcr): Assurance[] =>
  wished.map(assuranceOf).filter((level) => level !== assurance.none);

/**
 * The `acr` of the tokens: the class that the client named and the session reaches, since clients and resource servers
 * compare it with what they asked for (OpenID Connect Core §5.5.1.1, RFC 9470 §6); else the session's own.
 */
export function reportedAcr({ essential, required, wished }: RequestedAcr, sessionAcr: string): string {
  const reached = assuranceOf(sessionAcr);
  const isReached = (acr: string) => assuranceOf(acr) !== assurance.none && assuranceOf(acr) <= reached;
  const least = required === undefined ? assurance.none : assuranceOf(required);
  return (
    essential?.find(isReached) ??
    wished.find((acr) => isReached(acr) && assuranceOf(acr) >= least) ??
    sessionAcr
  );
}
