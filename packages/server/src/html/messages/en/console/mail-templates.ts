/** The mails that the service sends, to be looked at. */
import { formatDuration } from "../../format.ts";

const LOCALE = "en";

export const mailTemplates = {
  summary: (organisation: string) =>
    `Every email sent in the name of ${organisation}, as its readers see it.`,
  sending: "Sending",
  sendingText: "Email is set up for the whole server, by its operator.",
  state: "State",
  kinds: {
    smtp: "Email is sent",
    mailbox: "Demo: emails go to the mailbox page",
    none: "Email is not set up",
  },
  noneText:
    "Nobody gets email: invitations, password links and confirmations of addresses do not work. The operator sets SMTP_URL and SIGNET_MAIL_FROM.",
  sender: "Sender",
  server: "Mail server",
  list: "Emails",
  columns: { mail: "Email", when: "When it is sent" },
  subject: "Subject",
  from: "From",
  language: "Language",
  show: "Show",
  preview: "Preview",
  html: "As HTML",
  htmlFrame: "The email as HTML",
  text: "As text",
  sample: "The values in it are samples. Colours and name are those of the organisation.",
  test: "Send it to yourself",
  testText: (email: string) =>
    `A test goes to ${email}. It says that it is a test, and its button does nothing.`,
  testSubmit: "Send me a test",
  names: {
    AcceptInvitation: "Invitation",
    VerifyEmail: "Confirm an address",
    AccountExists: "Account already exists",
    ResetPassword: "Set a new password",
    PasswordChanged: "Password changed",
    ChangeEmail: "Confirm a new address",
    EmailChanged: "Address changed",
    AcceptRoaming: "Use your account here too",
    NewSignIn: "New sign-in",
    FactorAdded: "Second factor added",
    FactorRemoved: "Second factor removed",
    AccountDeleted: "Account deleted",
  },
  when: {
    AcceptInvitation: "An administrator invites somebody.",
    VerifyEmail: "Somebody registers, or has to show that their address is theirs.",
    AccountExists: "Somebody registers with an address that already has an account.",
    ResetPassword: "Somebody has forgotten their password.",
    PasswordChanged: "A password was set, by the user or by an administrator.",
    ChangeEmail: "An account is getting another address; the email goes to the new one.",
    EmailChanged: "An account has a new address; the email goes to the old one.",
    AcceptRoaming: "A user of another organisation is asked to use their account here.",
    NewSignIn: "Somebody signs in with a browser that was never used for the account before.",
    FactorAdded: "An authenticator app, a passkey or recovery codes were added.",
    FactorRemoved: "One of them was removed.",
    AccountDeleted: "An account was deleted.",
  },
  done: { sent: "The test is on its way to you." },
  notSent: "No test was sent",
  limited: (seconds: number) => `There were too many tests. Try again in ${formatDuration(LOCALE, seconds)}.`,
  notSetUp: "Email is not set up.",
};
