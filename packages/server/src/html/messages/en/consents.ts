/** What applications may use. */
import { formatDay } from "../format.ts";

const LOCALE = "en";

export const scopes = {
  openid: "Recognise you when you come back",
  profile: "See your name and username",
  email: "See your email address and whether it is confirmed",
  phone: "See your phone number",
  offline_access: "Stay connected while you are not using it",
};

export const consent = {
  heading: (application: string) => `Allow ${application} to use your account?`,
  signedInAs: "Signed in as",
  switchAccount: "Not you? Use another account",
  listTitle: "It will be able to:",
  sensitive: "Sensitive",
  customScope: (name: string) => `Use “${name}” for you`,
  goesTo: "You will go back to",
  allow: "Allow",
  deny: "Deny",
  remembered: "If you allow this, you are asked only once.",
};

/** What a user has allowed applications, on the pages of their account. */
export const consents = {
  title: "Applications with access",
  heading: "What applications may use",
  signedInAs: "Signed in as",
  summary: (organisation: string) =>
    `You have allowed these applications to use your account at ${organisation}. Revoke what you no longer want.`,
  listHeading: "Applications",
  none: "You have not allowed any application yet. When one asks, what you allow is listed here.",
  since: (milliseconds: number) => `Allowed on ${formatDay(LOCALE, milliseconds)}`,
  revoke: "Revoke access",
  revokeOf: (application: string) => `Revoke access for ${application}`,
  revokeHeading: (application: string) => `Revoke access for ${application}?`,
  revokeText: "It loses its access to your account at once. If you use it again, it asks you again.",
  revoked: "Access revoked.",
};

/** Where administrators alone decide what applications may use. */
export const administratorConsent = {
  heading: (application: string) => `${application} is not allowed here yet`,
  explanation: (organisation: string, application: string) =>
    `At ${organisation} an administrator decides what applications may use. Ask an administrator of ${organisation} to allow ${application}:`,
  back: (application: string) => `Go back to ${application}`,
};
