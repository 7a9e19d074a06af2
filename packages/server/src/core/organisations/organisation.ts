/** An organisation: its own issuer, keys, users and applications (specification, "Organisation"). */
import type { AttestationPolicy, EkTrust } from "../devices/device.ts";

export interface OrganisationSettings {
  readonly branding: {
    /** `#rrggbb`; the pages check it once more before they use it. */
    readonly accentColor?: string;
    /** A PNG as a `data:` address; see logo.ts. */
    readonly logoUri?: string;
  };
  /** NIST SP 800-63B-4: length is what counts; no composition rules. */
  readonly passwordMinLength: number;
  readonly sessionLifetimeSeconds: number;
  readonly sessionIdleSeconds: number;
  /** `required`: who has no second factor adds one right after the password, before anything is issued. */
  readonly secondFactor: SecondFactorPolicy;
  /** Whether users show that their address is theirs before anything is issued to an application. */
  readonly requireVerifiedEmail: boolean;
  /** Whether users may delete their own accounts; administrators always can. */
  readonly allowAccountDeletion: boolean;
  /** What devices must show when they are enrolled; a code can only tighten it. */
  readonly deviceAttestation: AttestationPolicy;
  readonly deviceEkTrust: EkTrust;
  /** The language of pages and mails for people whose own is not known, or is none that there are texts in. */
  readonly defaultLocale: string;
}

export const secondFactorPolicies = ["optional", "required"] as const;
export type SecondFactorPolicy = (typeof secondFactorPolicies)[number];

export interface Organisation {
  readonly id: string;
  readonly name: string;
  readonly settings: OrganisationSettings;
  readonly createdAt: number;
  readonly disabledAt: number | null;
}

export const defaultOrganisationSettings: OrganisationSettings = {
  branding: {},
  passwordMinLength: 12,
  sessionLifetimeSeconds: 12 * 3600,
  sessionIdleSeconds: 2 * 3600,
  secondFactor: "optional",
  requireVerifiedEmail: false,
  allowAccountDeletion: true,
  deviceAttestation: "optional",
  deviceEkTrust: "chain",
  defaultLocale: "en",
};

/** The issuer identifier: what discovery, tokens and answers name (wire-contract.md §1). */
export const issuerOf = (baseUrl: string, orgId: string): string => `${baseUrl}/oauth/${orgId}`;

/** Control and bidirectional characters could make one organisation's name look like another's. */
export function isOrganisationName(name: string): boolean {
  const length = [...name.trim()].length;
  return length >= 1 && length <= 100 && !/[\p{Cc}\p{Cf}\u2028\u2029]/u.test(name);
}
