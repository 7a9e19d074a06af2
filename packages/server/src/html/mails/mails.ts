/** Composes the body of each email template. */
import type { Messages } from "../messages/messages.ts";
import type { MailBody } from "./mail-body.ts";

type Origin = { at: number; address?: string; browser?: string };
/** The email addresses of the user who invites, and of the account that gets another one. */
type LinkData = { link: string; expiresAt: number; inviter?: string; account?: string };
type Factor = "totp" | "passkey" | "recovery-codes";
/** What a password reset left of the second factors. */
type Factors = {
  passkeysKept: number;
  passkeysRemoved: number;
  totp?: "kept" | "removed";
  recoveryCodesRemoved: boolean;
};

export type MailView = {
  organisation: MailBody["organisation"];
  service: string;
  /** The password recovery page, linked from notices. */
  recoveryUri: string;
} & (
  | {
      template:
        | ("ResetPassword" | "VerifyEmail" | "AcceptInvitation")
        | (
            | "AcceptRoaming"
            | "ChangeEmail"
            | "MagicLink"
            | "ApprovalRequested"
            | "SignUp"
            | "SignInAtOrganisation"
          );
      data: LinkData;
    }
  | {
      template:
        | ("NewSignIn" | "IdentityLinked" | "AccountExists" | "EmailChanged" | "AccountDeleted")
        | "SignUpRejected";
      data: Origin;
    }
  | { template: "EmailCode"; data: { code: string; expiresAt: number } }
  | { template: "PasswordChanged"; data: Origin & { factors?: Factors } }
  | { template: "FactorAdded" | "FactorRemoved"; data: Origin & { factor: Factor } }
  | {
      template:
        | ("FactorResetRequested" | "BreakGlassUsed")
        | ("ConnectionKeysChanged" | "SignUpsWaiting" | "SignUpApproved");
      data: Origin & { account?: string; recordUri: string };
    }
);

export function mailBody(view: MailView, messages: Messages): MailBody {
  const text = messages.mails;
  switch (view.template) {
    case "ResetPassword":
      return linkMail(view, view.data, text.resetPassword, text.newPassword);
    case "VerifyEmail":
      return linkMail(view, view.data, text.verifyEmail, text.verifyEmail.confirm);
    case "AcceptInvitation":
      return invitationMail(view, view.data, messages, text.acceptInvitation);
    case "AcceptRoaming":
      return invitationMail(view, view.data, messages, text.acceptRoaming);
    case "ChangeEmail":
      return newAddressMail(view, view.data, messages);
    case "SignUp":
      return linkMail(view, view.data, text.signUp, text.signUp.confirm);
    case "SignUpRejected":
      return { ...noticeMail(view, view.data, messages, text.signUpRejected), action: undefined };
    case "EmailCode":
      return codeMail(view, view.data, messages);
    case "MagicLink":
      return linkMail(view, view.data, text.magicLink, text.magicLink.confirm);
    case "ApprovalRequested":
      return linkMail(view, view.data, text.approvalRequested, text.approvalRequested.confirm);
    case "SignInAtOrganisation":
      return linkMail(view, view.data, text.signInAtOrganisation, text.signInAtOrganisation.confirm);
    case "AccountExists":
      return noticeMail(view, view.data, messages, text.accountExists);
    case "EmailChanged":
      return noticeMail(view, view.data, messages, text.emailChanged);
    case "AccountDeleted":
      return { ...noticeMail(view, view.data, messages, text.accountDeleted), action: undefined };
    case "PasswordChanged": {
      const mail = noticeMail(view, view.data, messages, text.passwordChanged);
      return { ...mail, facts: [...factorFacts(view.data.factors, messages), ...mail.facts] };
    }
    case "IdentityLinked":
      return noticeMail(view, view.data, messages, text.identityLinked);
    case "NewSignIn":
      return noticeMail(view, view.data, messages, text.newSignIn);
    case "FactorResetRequested":
    case "ConnectionKeysChanged":
    case "SignUpApproved":
    case "SignUpsWaiting":
    case "BreakGlassUsed":
      return recordMail(view, view.data, messages, recordWords(text)[view.template]);
    case "FactorAdded":
    case "FactorRemoved":
      return factorMail(view, view.data, messages, factorWords(text)[view.template]);
  }
}

const factorWords = (text: Messages["mails"]) => ({
  FactorAdded: text.factorAdded,
  FactorRemoved: text.factorRemoved,
});

const factorMail = (
  view: MailView,
  { factor, ...data }: Origin & { readonly factor: Factor },
  messages: Messages,
  words: Messages["mails"]["factorAdded"],
): MailBody =>
  noticeMail(view, data, messages, {
    subject: ({ organisation }) => words.subject({ factor, organisation }),
    text: ({ organisation }) => words.text({ factor, organisation }),
  });

const recordWords = (text: Messages["mails"]) => ({
  FactorResetRequested: text.factorResetRequested,
  ConnectionKeysChanged: text.connectionKeysChanged,
  SignUpApproved: text.signUpApproved,
  SignUpsWaiting: text.signUpsWaiting,
  BreakGlassUsed: text.breakGlassUsed,
});

/** Its button leads to what it is about. */
function recordMail(
  view: MailView,
  data: Origin & { readonly account?: string; readonly recordUri: string },
  messages: Messages,
  words: ReturnType<typeof recordWords>["SignUpApproved"],
): MailBody {
  const { account, recordUri } = data;
  const mail = noticeMail(view, data, messages, words);
  const facts = account === undefined ? [] : [{ name: messages.mails.facts.account, value: account }];
  return { ...mail, facts: [...facts, ...mail.facts], action: { label: words.open, uri: recordUri } };
}

function factorFacts(factors: Factors | undefined, { mails, format }: Messages): MailBody["facts"] {
  if (!factors) return [];
  const { passkeysKept, passkeysRemoved, totp, recoveryCodesRemoved } = factors;
  const { passkeys, totp: app, recoveryCodes } = mails.factors;
  const kept = [
    ...(passkeysKept > 0 ? [passkeys({ count: passkeysKept })] : []),
    ...(totp === "kept" ? [app] : []),
  ];
  const removed = [
    ...(passkeysRemoved > 0 ? [passkeys({ count: passkeysRemoved })] : []),
    ...(totp === "removed" ? [app] : []),
    ...(recoveryCodesRemoved ? [recoveryCodes] : []),
  ];
  return [
    { name: mails.facts.removed, value: format.list(removed) },
    { name: mails.facts.kept, value: format.list(kept) },
  ].filter(({ value }) => value !== "");
}

/** With who invites, and through which service: the organisation's name alone proves nothing. */
function invitationMail(
  view: MailView,
  data: LinkData,
  { mails: { facts, unnamedInviter } }: Messages,
  words: Messages["mails"]["acceptInvitation"],
): MailBody {
  const { organisation, service } = view;
  const unnamed = unnamedInviter({ organisation: organisation.name });
  return {
    ...linkMail(view, data, words, words.confirm),
    facts: [
      { name: facts.invitedBy, value: data.inviter ?? unnamed },
      { name: facts.service, value: service },
    ],
  };
}

/** With the account that it is about: whoever confirms another's account gives it the address. */
function newAddressMail(
  view: MailView,
  data: LinkData,
  { mails: { changeEmail, facts } }: Messages,
): MailBody {
  const { account } = data;
  return {
    ...linkMail(view, data, changeEmail, changeEmail.confirm),
    facts: account === undefined ? [] : [{ name: facts.account, value: account }],
  };
}

function linkMail(
  { organisation, service }: MailView,
  { link, expiresAt }: LinkData,
  words: Messages["mails"]["resetPassword"],
  label: string,
): MailBody {
  return {
    subject: words.subject({ organisation: organisation.name }),
    organisation,
    service,
    paragraphs: [words.text({ organisation: organisation.name })],
    facts: [],
    action: { label, uri: link },
    closing: [words.validity({ expiresAt }), words.otherwise],
  };
}

/** Not in the subject: a locked screen shows that. */
function codeMail(
  { organisation, service }: MailView,
  { code, expiresAt }: { readonly code: string; readonly expiresAt: number },
  { mails: { emailCode: words, facts } }: Messages,
): MailBody {
  return {
    subject: words.subject({ organisation: organisation.name }),
    organisation,
    service,
    paragraphs: [words.text({ organisation: organisation.name })],
    facts: [{ name: facts.code, value: code }],
    closing: [words.validity({ expiresAt }), words.otherwise],
  };
}

type OrganisationText = (name: { organisation: string }) => string;

function noticeMail(
  { organisation, service, recoveryUri }: MailView,
  { at, address, browser }: Origin,
  messages: Messages,
  words: { subject: OrganisationText; text: OrganisationText; advice?: string | OrganisationText },
): MailBody {
  const { advice = messages.mails.notYou } = words;
  const name = { organisation: organisation.name };
  const { facts, newPassword } = messages.mails;
  return {
    subject: words.subject(name),
    organisation,
    service,
    paragraphs: [words.text(name), typeof advice === "string" ? advice : advice(name)],
    facts: [
      { name: facts.at, value: messages.format.minute(at) },
      ...(browser === undefined ? [] : [{ name: facts.browser, value: browser }]),
      ...(address === undefined ? [] : [{ name: facts.address, value: address }]),
    ],
    action: { label: newPassword, uri: recoveryUri },
    closing: [],
  };
}
