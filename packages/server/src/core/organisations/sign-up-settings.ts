/** Who may make an account of their own, and the terms that everybody accepts (connections.md §6). */
import { isPlainText } from "../plain-text.ts";
import { isBrandingLink } from "./branding-links.ts";

/**
 * `open`: every address. `domains`: addresses of the domains that the organisation has proven. `approval`: every address, and an
 * administrator approves each.
 */
export const signUpModes = ["off", "open", "domains", "approval"] as const;
export type SignUpMode = (typeof signUpModes)[number];

export interface Terms {
  /** Another version is asked for again. */
  readonly version: string;
  readonly url: string;
}

export interface SignUpSettings {
  readonly mode: SignUpMode;
  readonly terms?: Terms;
  /** Ids of the groups that new users get into; those that are gone are left out. */
  readonly groups: readonly string[];
}

export const MAX_TERMS_VERSION = 100;
export const MAX_SIGN_UP_GROUPS = 20;

export type SignUpFaultCode = "sign-up-mode" | "terms-version" | "terms-url" | "sign-up-groups";

export const signUpFaults = ({
  mode,
  terms,
  groups,
}: SignUpSettings): Array<{ path: string; message: string; code: SignUpFaultCode }> => [
  ...(signUpModes.includes(mode)
    ? []
    : [
        {
          path: "signUp.mode",
          message: `must be one of ${signUpModes.join(", ")}`,
          code: "sign-up-mode" as const,
        },
      ]),
  ...(terms === undefined || isTermsVersion(terms.version)
    ? []
    : [
        {
          ...{ path: "signUp.terms.version", code: "terms-version" as const },
          message: `must be 1 to ${MAX_TERMS_VERSION} characters in one line, without spaces around them`,
        },
      ]),
  ...(terms === undefined || isBrandingLink("termsUri", terms.url)
    ? []
    : [{ path: "signUp.terms.url", message: "must be an https URL", code: "terms-url" as const }]),
  ...(groups.length <= MAX_SIGN_UP_GROUPS && new Set(groups).size === groups.length
    ? []
    : [
        {
          ...{ path: "signUp.groups", code: "sign-up-groups" as const },
          message: `must be at most ${MAX_SIGN_UP_GROUPS} groups, each once`,
        },
      ]),
];

const isTermsVersion = (version: string): boolean =>
  isPlainText(version, 1, MAX_TERMS_VERSION) && version.trim() === version;
