/**
 * The mails that the service sends. Each says what has happened or what its link does; none carries a text that its
 * reader, or a stranger, has chosen, so that nobody can send their own words in our name.
 */

/** What a user proves themselves with, as a notice names it. */
export type MailedFactor = "totp" | "passkey" | "recovery-codes";

export type Mail =
  | { readonly template: "ResetPassword"; readonly data: LinkData }
  | { readonly template: "VerifyEmail"; readonly data: LinkData }
  | { readonly template: "AcceptInvitation"; readonly data: LinkData }
  | { readonly template: "AcceptRoaming"; readonly data: LinkData }
  | { readonly template: "ChangeEmail"; readonly data: LinkData }
  | { readonly template: "AccountExists"; readonly data: NoticeData }
  | { readonly template: "EmailChanged"; readonly data: NoticeData }
  | { readonly template: "AccountDeleted"; readonly data: NoticeData }
  | { readonly template: "PasswordChanged"; readonly data: NoticeData }
  | { readonly template: "NewSignIn"; readonly data: NoticeData }
  | { readonly template: "FactorAdded"; readonly data: FactorNoticeData }
  | { readonly template: "FactorRemoved"; readonly data: FactorNoticeData };

export type MailTemplate = Mail["template"];

/** Each of them, in the order in which a person meets them. */
export const mailTemplates = [
  "AcceptInvitation",
  "VerifyEmail",
  "AccountExists",
  "ResetPassword",
  "PasswordChanged",
  "ChangeEmail",
  "EmailChanged",
  "AcceptRoaming",
  "NewSignIn",
  "FactorAdded",
  "FactorRemoved",
  "AccountDeleted",
] as const satisfies readonly MailTemplate[];

/** A mail that an administrator has asked for to see it: it says so itself, and its link leads to no act. */
interface Tried {
  readonly isTest?: true;
}

export interface LinkData extends Tried {
  /** Holds a secret: it is in the mail, and sealed in the outbox, and nowhere else. */
  readonly link: string;
  /** Milliseconds, as every time here. */
  readonly expiresAt: number;
}

export interface NoticeData extends Tried {
  readonly at: number;
  /** The network address that it came from; undefined when an operator did it. */
  readonly address?: string;
  /** The browser in words of our own, e.g. `Firefox, Windows`; undefined when it is none that we know. */
  readonly browser?: string;
  /** The organisation that owns the account, when it is not the one that speaks: passwords are set there. */
  readonly homeOrgId?: string;
}

export interface FactorNoticeData extends NoticeData {
  readonly factor: MailedFactor;
}

/** Undetermined (ISO 639-2): the reader has chosen no language, and gets the organisation's. */
export const NO_LANGUAGE = "und";

/** A mail on its way. */
export interface OutgoingMail {
  readonly orgId: string;
  readonly id: string;
  /** The address of the one who reads it. */
  readonly recipient: string;
  /** A tag of one of our message files. */
  readonly locale: string;
  readonly mail: Mail;
  readonly createdAt: number;
}

/** A mail in words, ready to be sent. */
export interface MailContent {
  /** The name that mail programs show as the sender's: the organisation's. */
  readonly senderName: string;
  readonly locale: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** @returns undefined when there is nobody to speak for any more: the organisation is disabled or gone */
export type ComposeMail = (mail: OutgoingMail) => Promise<MailContent | undefined>;
