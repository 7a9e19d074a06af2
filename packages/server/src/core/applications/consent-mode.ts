/**
 * Consent mode (specification, "Consent mode"). `RequireConsent=false` and `preauthorized` are one setting in two
 * forms (wire-contract.md §2).
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

/** Derives both members from those that are set; a contradiction is left to the validation. */
export function bothConsentMembers(given: Given): Required<Given> {
  const requireConsent = given.requireConsent ?? given.consentMode !== "preauthorized";
  const consentMode = given.consentMode ?? (requireConsent ? "user" : "preauthorized");
  return { requireConsent, consentMode };
}

type Current = Pick<ApplicationSettings, "requireConsent" | "consentMode">;

/**
 * Derives both members when a record is replaced: if they contradict each other, the changed one wins. A
 * contradiction of two changes is left to the validation.
 */
export function changedConsentMembers(given: Given, before: Current): Required<Given> {
  const both = bothConsentMembers(given);
  if (both.requireConsent !== (both.consentMode === "preauthorized")) return both;
  const requirementChanged = both.requireConsent !== before.requireConsent;
  const modeChanged = both.consentMode !== consentModeOf(before);
  if (requirementChanged === modeChanged) return both;
  return bothConsentMembers(
    requirementChanged ? { requireConsent: both.requireConsent } : { consentMode: both.consentMode },
  );
}
