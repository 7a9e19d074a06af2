/** An organisation: its own issuer, keys, users and applications (specification, "Organisation"). */
import type { RecordOf } from "../../db/records.ts";
import type { OrganisationTable } from "../../db/tables/organisations.ts";
import type { AttestationPolicy, EkTrust } from "../devices/device.ts";
import type { LedgerMode } from "../ledger/ledger-log.ts";
import type { ImageKind, ImageRef } from "./image-kinds.ts";
import type { PasskeyEnrolment, SecondFactorMethod, SignInMethod } from "./sign-in-methods.ts";
import type { SignInTexts } from "./sign-in-texts.ts";
import type { SignUpSettings } from "./sign-up-settings.ts";

export interface OrganisationSettings {
  readonly branding: {
    /** `#rrggbb`; pages check it again before using it. */
    readonly accentColor?: string;
    /** A PNG as a `data:` URL, see logo.ts. */
    readonly logoUri?: string;
    /** https or `mailto:`, see branding-links.ts. */
    readonly helpUri?: string;
    readonly privacyUri?: string;
    readonly termsUri?: string;
    /** On the sign-in page, by language. */
    readonly signInTexts?: SignInTexts;
  };
  /** Of the sign-in page, see images.ts. */
  readonly images: Readonly<Partial<Record<ImageKind, ImageRef>>>;
  /** NIST SP 800-63B-4: length only, no composition rules. */
  readonly passwordMinLength: number;
  readonly sessionLifetimeSeconds: number;
  readonly sessionIdleSeconds: number;
  /** What signs in alone, in the order of the sign-in page; see sign-in-methods.ts. */
  readonly signInMethods: readonly SignInMethod[];
  /** Whether users without a passkey are asked to add one after sign-in. */
  readonly passkeyEnrolment: PasskeyEnrolment;
  readonly signUp: SignUpSettings;
  /** What users may verify, and add, beside a password. */
  readonly secondFactorMethods: readonly SecondFactorMethod[];
  /** `required`: users without a second factor add one right after the password. */
  readonly secondFactor: SecondFactorPolicy;
  /** Whether users must verify their email address before an application gets anything. */
  readonly requireVerifiedEmail: boolean;
  /** Whether users may delete their own accounts; administrators always can. */
  readonly allowAccountDeletion: boolean;
  /** Whether every application must push its authorization requests (RFC 9126). */
  readonly requirePushedAuthorizationRequests: boolean;
  /** What devices must prove at enrolment; an enrolment code can only tighten it. */
  readonly deviceAttestation: AttestationPolicy;
  readonly deviceEkTrust: EkTrust;
  /** The language of pages and emails for users whose own is unknown or not available. */
  readonly defaultLocale: string;
  /** Older events leave the audit log (core/audit/retention); 0: it is kept for ever. */
  readonly auditRetentionMonths: number;
  /** Who may read the log of the signatures made in its name; `off`: there is none (core/ledger). */
  readonly ledger: LedgerMode;
  /** How many witnesses a checkpoint of the log needs, once it has any. */
  readonly ledgerWitnessQuorum: number;
}

export const secondFactorPolicies = ["optional", "required"] as const;
export type SecondFactorPolicy = (typeof secondFactorPolicies)[number];

export interface Organisation extends RecordOf<Omit<OrganisationTable, "settings">> {
  readonly settings: OrganisationSettings;
}

export const defaultOrganisationSettings: OrganisationSettings = {
  branding: {},
  images: {},
  passwordMinLength: 12,
  sessionLifetimeSeconds: 12 * 3600,
  sessionIdleSeconds: 2 * 3600,
  signInMethods: ["password", "passkey"],
  passkeyEnrolment: "off",
  signUp: { mode: "off", groups: [] },
  secondFactorMethods: ["totp", "passkey"],
  secondFactor: "optional",
  requireVerifiedEmail: false,
  allowAccountDeletion: true,
  requirePushedAuthorizationRequests: false,
  deviceAttestation: "optional",
  deviceEkTrust: "chain",
  defaultLocale: "en",
  auditRetentionMonths: 0,
  ledger: "off",
  ledgerWitnessQuorum: 1,
};

/** The issuer identifier, in discovery, tokens and responses (wire-contract.md §1). */
export const issuerOf = (baseUrl: string, orgId: string): string => `${baseUrl}/oauth/${orgId}`;

/** Whether the issuer is the organisation's, or one of its pools'. @param own of the organisation */
export const isOwnIssuer = (own: string, issuer: string): boolean =>
  issuer === own || issuer.startsWith(`${own}/`);

/** 1 to 100 characters. Control and bidirectional ones could make two names look alike. */
export function isRecordName(name: string): boolean {
  const length = [...name.trim()].length;
  return length >= 1 && length <= 100 && !/[\p{Cc}\p{Cf}\u2028\u2029]/u.test(name);
}
