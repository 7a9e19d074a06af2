/**
 * The emails that Signet sends. None contains text that a user or stranger chose, so that nobody can send their own
 * words in our name. Two exceptions are the organisation's: its name is quoted, and left out when it could be a message;
 * its own texts (mail-texts.ts) go only to verified addresses of its users.
 */

import type { MailText } from "./mail-text.ts";

/** A second factor, as notices name it. */
export type MailedFactor = "totp" | "passkey" | "recovery-codes";

export type Mail =
  | { readonly template: "ResetPassword"; readonly data: LinkData }
  | { readonly template: "VerifyEmail"; readonly data: LinkData }
  | { readonly template: "AcceptInvitation"; readonly data: LinkData }
  | { readonly template: "AcceptRoaming"; readonly data: LinkData }
  | { readonly template: "ChangeEmail"; readonly data: LinkData }
  | { readonly template: "ApprovalRequested"; readonly data: LinkData }
  | { readonly template: "EmailCode"; readonly data: CodeData }
  | { readonly template: "MagicLink" | "SignUp" | "SignInAtOrganisation"; readonly data: LinkData }
  | { readonly template: "AccountExists" | "SignUpRejected"; readonly data: NoticeData }
  | { readonly template: "EmailChanged"; readonly data: NoticeData }
  | { readonly template: "AccountDeleted"; readonly data: NoticeData }
  | { readonly template: "PasswordChanged"; readonly data: PasswordNoticeData }
  | { readonly template: "NewSignIn"; readonly data: NoticeData }
  | { readonly template: "IdentityLinked"; readonly data: NoticeData }
  | { readonly template: "FactorAdded"; readonly data: FactorNoticeData }
  | { readonly template: "FactorRemoved"; readonly data: FactorNoticeData }
  | {
      readonly template:
        | ("FactorResetRequested" | "BreakGlassUsed")
        | ("ConnectionKeysChanged" | "SignUpsWaiting" | "SignUpApproved");
      readonly data: FactorResetData;
    };

export type MailTemplate = Mail["template"];

/** In the order in which users meet them. */
export const mailTemplates = [
  "AcceptInvitation",
  "SignUp",
  "SignUpApproved",
  "SignUpRejected",
  "VerifyEmail",
  "EmailCode",
  "MagicLink",
  "SignInAtOrganisation",
  "ApprovalRequested",
  "AccountExists",
  "ResetPassword",
  "PasswordChanged",
  "ChangeEmail",
  "EmailChanged",
  "AcceptRoaming",
  "NewSignIn",
  "FactorAdded",
  "FactorRemoved",
  "IdentityLinked",
  "FactorResetRequested",
  "BreakGlassUsed",
  "ConnectionKeysChanged",
  "SignUpsWaiting",
  "AccountDeleted",
] as const satisfies readonly MailTemplate[];

/**
 * Emails to users of other organisations. Whether they arrive isn't reported to the organisation that caused them: only an
 * address that exists can fail, so a failure would disclose it.
 */
export const undisclosedTemplates: readonly MailTemplate[] = ["AcceptRoaming"];

/** Emails to addresses that may be of somebody who knows nothing of the organisation. */
export const outsideTemplates: readonly MailTemplate[] = [
  "AcceptInvitation",
  "AcceptRoaming",
  "EmailCode",
  "SignUp",
  "SignInAtOrganisation",
];

interface AnyMailData {
  /** A test email that an administrator requested: it says so, and its link does nothing. */
  readonly isTest?: true;
  /** The recipient has proven to own the address: the organisation's own texts may be used (mail-texts.ts). */
  readonly isVerified?: true;
}

export interface LinkData extends AnyMailData {
  /** Contains a secret: it is in the email, encrypted in the outbox, and nowhere else. */
  readonly link: string;
  /** Milliseconds, as every time here. */
  readonly expiresAt: number;
  /** The verified email address of the user who invites; undefined for a program. */
  readonly inviter?: string;
  /** ChangeEmail: the address that the account has until then. */
  readonly account?: string;
}

export interface CodeData extends AnyMailData {
  /** As secret as a link. */
  readonly code: string;
  readonly expiresAt: number;
}

export interface NoticeData extends AnyMailData {
  readonly at: number;
  /** The client's IP address; undefined for an operator. */
  readonly address?: string;
  /** The browser in our own words, e.g. `Firefox, Windows`; undefined when unknown. */
  readonly browser?: string;
  /** The home organisation of the account, where it differs: passwords are set there. */
  readonly homeOrgId?: string;
}

/** What a password reset by email left of the second factors. */
export interface MailedFactors {
  readonly passkeysKept: number;
  readonly passkeysRemoved: number;
  readonly totp?: "kept" | "removed";
  readonly recoveryCodesRemoved: boolean;
}

export interface PasswordNoticeData extends NoticeData {
  readonly factors?: MailedFactors;
}

export interface FactorNoticeData extends NoticeData {
  readonly factor: MailedFactor;
}

/** To administrators. */
export interface FactorResetData extends NoticeData {
  /** The verified email address of the user who asks. */
  readonly account?: string;
  /** The record in the console: the user's, or the connection's; of sign-ups, the list; of one that is approved, the account. */
  readonly recordUri: string;
}

/** Undetermined (ISO 639-2): the recipient has chosen no language and gets the organisation's. */
export const NO_LANGUAGE = "und";

export interface OutgoingMail {
  readonly orgId: string;
  readonly id: string;
  readonly recipient: string;
  /** The language of a message file. */
  readonly locale: string;
  readonly mail: Mail;
  readonly createdAt: number;
}

export interface MailContent {
  /** The sender's display name: the organisation's. */
  readonly senderName: string;
  readonly locale: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/**
 * @param draft used instead of the organisation's stored text
 * @returns undefined when the organisation is disabled or deleted
 */
export type ComposeMail = (mail: OutgoingMail, draft?: MailText) => Promise<MailContent | undefined>;
