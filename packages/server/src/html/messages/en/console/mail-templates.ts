/** The mails that the service sends, to be looked at. */
import { formatDuration } from "../../format.ts";

const LOCALE = "en";

export const mailTemplates = {
  summary: (organisation: string) =>
    `Every mail that is sent in the name of ${organisation}, as its readers see it.`,
  sending: "Sending",
  sendingText: "Mail is set up for the whole server, by its operator.",
  state: "State",
  kinds: {
    smtp: "Mail is sent",
    mailbox: "Demo: mails go to the mailbox page",
    none: "Mail is not set up",
  },
  noneText:
    "Nobody gets mails: invitations, new passwords and confirmations of addresses do not work. The operator sets SMTP_URL and SIGNET_MAIL_FROM.",
  sender: "Sender",
  server: "Mail server",
  list: "Mails",
  columns: { mail: "Mail", when: "When it is sent" },
  subject: "Subject",
  from: "From",
  language: "Language",
  show: "Show",
  preview: "Preview",
  html: "As HTML",
  htmlFrame: "The mail as HTML",
  text: "As text",
  sample: "The values in it are samples. Colours and name are those of the organisation.",
  test: "Send it to yourself",
  testText: (email: string) =>
    `A test goes to ${email}. It says that it is one, and its button leads to nothing that could be done.`,
  testSubmit: "Send me a test",
  names: {
    AcceptInvitation: "Invitation",
    VerifyEmail: "Confirm an address",
    AccountExists: "There is an account already",
    ResetPassword: "Set a new password",
    PasswordChanged: "Password was changed",
    ChangeEmail: "Confirm a new address",
    EmailChanged: "Address was changed",
    AcceptRoaming: "Use an account here too",
    NewSignIn: "New sign-in",
    FactorAdded: "Second factor was added",
    FactorRemoved: "Second factor was removed",
    AccountDeleted: "Account was deleted",
  },
  when: {
    AcceptInvitation: "An administrator invites somebody.",
    VerifyEmail: "Somebody registers, or has to show that an address is theirs.",
    AccountExists: "Somebody registers with an address that has an account already.",
    ResetPassword: "Somebody has forgotten the password.",
    PasswordChanged: "A password was set, by whomever.",
    ChangeEmail: "An account gets another address; the mail goes to the new one.",
    EmailChanged: "An account has got another address; the mail goes to the old one.",
    AcceptRoaming: "A user of another organisation is asked to use their account here.",
    NewSignIn: "Somebody signs in with a browser that was not used for the account before.",
    FactorAdded: "An authenticator app, a passkey or recovery codes were added.",
    FactorRemoved: "One of them was removed.",
    AccountDeleted: "An account was deleted.",
  },
  done: { sent: "The test is on its way to you." },
  notSent: "No test was sent",
  limited: (seconds: number) => `There were many tests. Try again in ${formatDuration(LOCALE, seconds)}.`,
  notSetUp: "Mail is not set up.",
};
