/** The words of each mail. Values in them are the organisation's name, times, addresses and words of our own. */
import type { Messages } from "../messages/messages.ts";
import type { MailBody } from "./mail-body.ts";

type Seen = { at: number; address?: string; browser?: string };
type Linked = { link: string; expiresAt: number };
type Factor = Parameters<Messages["mails"]["factorAdded"]["subject"]>[0];

export type MailView = {
  organisation: MailBody["organisation"];
  /** Where a new password can be asked for: notices lead there. */
  recoveryUri: string;
} & (
  | {
      template: "ResetPassword" | "VerifyEmail" | "AcceptInvitation" | "AcceptRoaming" | "ChangeEmail";
      data: Linked;
    }
  | {
      template: "PasswordChanged" | "NewSignIn" | "AccountExists" | "EmailChanged" | "AccountDeleted";
      data: Seen;
    }
  | { template: "FactorAdded" | "FactorRemoved"; data: Seen & { factor: Factor } }
);

export function mailBody(view: MailView, messages: Messages): MailBody {
  const text = messages.mails;
  const { name } = view.organisation;
  switch (view.template) {
    case "ResetPassword":
      return linked(view, view.data, text.resetPassword, text.newPassword);
    case "VerifyEmail":
      return linked(view, view.data, text.verifyEmail, text.verifyEmail.confirm);
    case "AcceptInvitation":
      return linked(view, view.data, text.acceptInvitation, text.acceptInvitation.confirm);
    case "AcceptRoaming":
      return linked(view, view.data, text.acceptRoaming, text.acceptRoaming.confirm);
    case "ChangeEmail":
      return linked(view, view.data, text.changeEmail, text.changeEmail.confirm);
    case "AccountExists":
      return notice(view, view.data, messages, {
        subject: text.accountExists.subject(name),
        text: text.accountExists.text(name),
        advice: text.accountExists.advice,
      });
    case "EmailChanged":
      return notice(view, view.data, messages, {
        subject: text.emailChanged.subject(name),
        text: text.emailChanged.text(name),
        advice: text.emailChanged.advice(name),
      });
    case "AccountDeleted": {
      const words = text.accountDeleted;
      const told = { subject: words.subject(name), text: words.text(name), advice: words.advice(name) };
      return { ...notice(view, view.data, messages, told), action: undefined };
    }
    case "PasswordChanged":
      return notice(view, view.data, messages, {
        subject: text.passwordChanged.subject(name),
        text: text.passwordChanged.text(name),
      });
    case "NewSignIn":
      return notice(view, view.data, messages, {
        subject: text.newSignIn.subject(name),
        text: text.newSignIn.text(name),
      });
    case "FactorAdded":
    case "FactorRemoved": {
      const words = view.template === "FactorAdded" ? text.factorAdded : text.factorRemoved;
      const { factor } = view.data;
      return notice(view, view.data, messages, {
        subject: words.subject(factor, name),
        text: words.text(factor, name),
      });
    }
  }
}

function linked(
  { organisation }: MailView,
  { link, expiresAt }: Linked,
  words: Messages["mails"]["resetPassword"],
  label: string,
): MailBody {
  return {
    subject: words.subject(organisation.name),
    organisation,
    paragraphs: [words.text(organisation.name)],
    facts: [],
    action: { label, uri: link },
    closing: [words.validity(expiresAt), words.otherwise],
  };
}

function notice(
  { organisation, recoveryUri }: MailView,
  { at, address, browser }: Seen,
  messages: Messages,
  words: { subject: string; text: string; advice?: string },
): MailBody {
  const { facts, moment, notYou, newPassword } = messages.mails;
  return {
    subject: words.subject,
    organisation,
    paragraphs: [words.text, words.advice ?? notYou],
    facts: [
      { name: facts.at, value: moment(at) },
      ...(browser === undefined ? [] : [{ name: facts.browser, value: browser }]),
      ...(address === undefined ? [] : [{ name: facts.address, value: address }]),
    ],
    action: { label: newPassword, uri: recoveryUri },
    closing: [],
  };
}
