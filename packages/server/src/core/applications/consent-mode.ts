/**
 * Who is asked before an application gets something (specification, "Consent mode"). `RequireConsent=false` and
 * `preauthorized` are one setting seen two ways (wire-contract.md §2).
 */
import type { ApplicationSettings, ConsentMode } from "./application.ts";

export function consentModeOf({
  requireConsent,
  consentMode,
}: Pick<ApplicationSettings, "requireConsent" | "consentMode">): ConsentMode {
  if (!requireConsent) return "preauthorized";
  return consentMode === "organisation" ? "organisation" : "user";
}

type Given = Partial<Pick<ApplicationSettings, "requireConsent" | "consentMode">>;

/** Both members from what was given of them; a contradiction stays, for the validation to tell. */
export function bothConsentMembers(given: Given): Required<Given> {
  const requireConsent = given.requireConsent ?? given.consentMode !== "preauthorized";
  const consentMode = given.consentMode ?? (requireConsent ? "user" : "preauthorized");
  return { requireConsent, consentMode };
}
