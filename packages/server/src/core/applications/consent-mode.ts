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

type Held = Pick<ApplicationSettings, "requireConsent" | "consentMode">;

/**
 * Both members when a record is replaced by one that was read before: of two that contradict each other, the one that
 * was changed counts. A contradiction of two changes stays, for the validation to tell.
 */
export function changedConsentMembers(given: Given, before: Held): Required<Given> {
  const both = bothConsentMembers(given);
  if (both.requireConsent !== (both.consentMode === "preauthorized")) return both;
  const requirementChanged = both.requireConsent !== before.requireConsent;
  const modeChanged = both.consentMode !== consentModeOf(before);
  if (requirementChanged === modeChanged) return both;
  return bothConsentMembers(
    requirementChanged ? { requireConsent: both.requireConsent } : { consentMode: both.consentMode },
  );
}
