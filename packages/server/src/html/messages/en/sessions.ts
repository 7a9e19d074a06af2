/** Between the pages of an account, and where it is signed in. */
import { formatDay, formatMinute } from "../format.ts";

const LOCALE = "en";

/** Between the pages of an account. */
export const accountNav = {
  label: "Your account",
  security: "Security",
  sessions: "Sessions",
  consents: "Applications",
};

export const sessions = {
  title: "Sessions",
  heading: "Where you are signed in",
  signedInAs: "Signed in as",
  summary: (organisation: string) =>
    `Each of these browsers is signed in to your account at ${organisation}. Sign out those you do not know.`,
  listHeading: "Browsers",
  thisOne: "This browser",
  unknown: "A browser",
  used: (milliseconds: number) => `Last used ${formatMinute(LOCALE, milliseconds)} UTC`,
  since: (milliseconds: number, address: string) =>
    `Signed in since ${formatDay(LOCALE, milliseconds)}, from ${address}`,
  applications: (names: readonly string[]) =>
    `Used for ${new Intl.ListFormat(LOCALE, { type: "conjunction" }).format(names)}`,
  end: "Sign out",
  endOf: (browser: string) => `Sign out ${browser}`,
  endHeading: (browser: string) => `Sign out ${browser}?`,
  endText: "It has to sign in again. The applications it was used for are told.",
  everywhere: "Sign out everywhere",
  everywhereHeading: "Sign out everywhere?",
  everywhereText:
    "Every browser has to sign in again, this one too. Applications lose their access, even those that work while you are away.",
  ended: "It is signed out.",
};
