/** Composes the body of each email template. */
import type { Messages } from "../messages/messages.ts";
import type { MailBody } from "./mail-body.ts";

type Origin = { at: number; address?: string; browser?: string };
type LinkData = { link: string; expiresAt: number };
type Factor = "totp" | "passkey" | "recovery-codes";

export type MailView = {
  organisation: MailBody["organisation"];
  /** The password recovery page, linked from notices. */
  recoveryUri: string;
} & (
  | {
      template: "ResetPassword" | "VerifyEmail" | "AcceptInvitation" | "AcceptRoaming" | "ChangeEmail";
      data: LinkData;
    }
  | {
      template: "PasswordChanged" | "NewSignIn" | "AccountExists" | "EmailChanged" | "AccountDeleted";
      data: Origin;
    }
  | { template: "FactorAdded" | "FactorRemoved"; data: Origin & { factor: Factor } }
);

export function mailBody(view: MailView, messages: Messages): MailBody {
  const text = messages.mails;
  const { name } = view.organisation;
  switch (view.template) {
    case "ResetPassword":
      return linkMail(view, view.data, text.resetPassword, text.newPassword);
    case "VerifyEmail":
      return linkMail(view, view.data, text.verifyEmail, text.verifyEmail.confirm);
    case "AcceptInvitation":
      return linkMail(view, view.data, text.acceptInvitation, text.acceptInvitation.confirm);
    case "AcceptRoaming":
      return linkMail(view, view.data, text.acceptRoaming, text.acceptRoaming.confirm);
    case "ChangeEmail":
      return linkMail(view, view.data, text.changeEmail, text.changeEmail.confirm);
    case "AccountExists":
      return noticeMail(view, view.data, messages, {
        subject: text.accountExists.subject({ organisation: name }),
        text: text.accountExists.text({ organisation: name }),
        advice: text.accountExists.advice,
      });
    case "EmailChanged":
      return noticeMail(view, view.data, messages, {
        subject: text.emailChanged.subject({ organisation: name }),
        text: text.emailChanged.text({ organisation: name }),
        advice: text.emailChanged.advice({ organisation: name }),
      });
    case "AccountDeleted": {
      const words = text.accountDeleted;
      const texts = {
        subject: words.subject({ organisation: name }),
        text: words.text({ organisation: name }),
        advice: words.advice({ organisation: name }),
      };
      return { ...noticeMail(view, view.data, messages, texts), action: undefined };
    }
    case "PasswordChanged":
      return noticeMail(view, view.data, messages, {
        subject: text.passwordChanged.subject({ organisation: name }),
        text: text.passwordChanged.text({ organisation: name }),
      });
    case "NewSignIn":
      return noticeMail(view, view.data, messages, {
        subject: text.newSignIn.subject({ organisation: name }),
        text: text.newSignIn.text({ organisation: name }),
      });
    case "FactorAdded":
    case "FactorRemoved": {
      const words = view.template === "FactorAdded" ? text.factorAdded : text.factorRemoved;
      const { factor } = view.data;
      return noticeMail(view, view.data, messages, {
        subject: words.subject({ factor, organisation: name }),
        text: words.text({ factor, organisation: name }),
      });
    }
  }
}

function linkMail(
  { organisation }: MailView,
  { link, expiresAt }: LinkData,
  words: Messages["mails"]["resetPassword"],
  label: string,
): MailBody {
  return {
    subject: words.subject({ organisation: organisation.name }),
    organisation,
    paragraphs: [words.text({ organisation: organisation.name })],
    facts: [],
    action: { label, uri: link },
    closing: [words.validity({ expiresAt }), words.otherwise],
  };
}

function noticeMail(
  { organisation, recoveryUri }: MailView,
  { at, address, browser }: Origin,
  messages: Messages,
  words: { subject: string; text: string; advice?: string },
): MailBody {
  const { facts, notYou, newPassword } = messages.mails;
  return {
    subject: words.subject,
    organisation,
    paragraphs: [words.text, words.advice ?? notYou],
    facts: [
      { name: facts.at, value: messages.format.minute(at) },
      ...(browser === undefined ? [] : [{ name: facts.browser, value: browser }]),
      ...(address === undefined ? [] : [{ name: facts.address, value: address }]),
    ],
    action: { label: newPassword, uri: recoveryUri },
    closing: [],
  };
}
