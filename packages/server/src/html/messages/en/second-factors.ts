/** Second factors: asked for, and set up. */
import { formatDuration } from "../format.ts";

const LOCALE = "en";

export const twoFactor = {
  title: (application: string) => `Confirm it is you to continue to ${application}`,
  headings: {
    passkey: "Use your passkey",
    totp: "Enter the code from your app",
    recovery: "Enter a recovery code",
  },
  explanations: {
    passkey: "Your browser asks for your fingerprint, face, PIN or security key.",
    totp: "Open your authenticator app and enter the six digits it shows.",
    recovery: "You kept ten of them when you set up your second factor. Each works once.",
  },
  signingInAs: "Signing in as",
  otherAccount: "Not you? Use another account",
  code: "Code",
  recoveryCode: "Recovery code",
  remember: "Remember this browser for 30 days",
  rememberHint: "Only where nobody else signs in.",
  submit: (application: string) => `Continue to ${application}`,
  usePasskey: "Use passkey",
  others: "Another way",
  choose: {
    passkey: "Use a passkey",
    totp: "Use your authenticator app",
    recovery: "Use a recovery code",
  },
  needsScript: "Passkeys need scripts, which are off in this browser.",
  failed: "You are not signed in yet",
  failures: {
    passkey: "That passkey did not work. Try again, or choose another way.",
    totp: "The code is wrong, too old, or was used before. Wait for the next one and enter it.",
    recovery: "This is none of your unused codes. Check it and try again.",
  },
  passkeyFailed: "Your browser got no passkey. Try again, or choose another way.",
  rateLimited: (seconds: number) =>
    `There were too many wrong codes. Wait ${formatDuration(LOCALE, seconds)}, then try again.`,
  rateLimitedSoon: "There were too many wrong codes. Wait a few minutes, then try again.",
};

/** Adding a second factor, on the way to an application or on the account's own pages. */
export const enrolment = {
  title: (application: string) => `Add a second factor to continue to ${application}`,
  heading: "Add a second factor",
  askedByOrganisation: (organisation: string) =>
    `${organisation} protects its accounts with more than a password.`,
  askedByApplication: (application: string) => `A password alone is not enough for ${application}.`,
  totp: {
    heading: "Set up an authenticator app",
    scan: "Scan this with your authenticator app",
    image: "QR code for your authenticator app",
    open: "On this device? Open your app",
    byHand: "You cannot scan it?",
    key: "Enter this key in your app instead:",
    copy: "Copy",
    copied: "Copied",
    code: "Code from the app",
    submit: "Add authenticator app",
    wrong: "The app is not set up yet",
    wrongCode: "That code does not match this key. Wait for the next one and enter it.",
  },
  passkey: {
    heading: "Add a passkey",
    explanation:
      "A passkey signs you in with your fingerprint, face, PIN or a security key. It works only here, so no look-alike page can take it from you.",
    name: "Name, to tell your passkeys apart",
    suggestedName: "My passkey",
    submit: "Add passkey",
    wrong: "The passkey was not added",
    notAdded: "Your browser’s answer could not be used. Try again.",
    known: "You already have this passkey here.",
    tooMany: "You have as many passkeys as an account can hold. Remove one first.",
  },
  others: "Another way",
  choose: {
    totp: "Use an authenticator app",
    passkey: "Use a passkey",
  },
};

export const recoveryCodes = {
  title: "Recovery codes",
  heading: "Keep your recovery codes",
  explanation:
    "Each of them signs you in once when you do not have your second factor at hand. Print them, or keep them in a password manager.",
  once: "You will not see them again",
  onceText: "We keep only what it takes to recognise them.",
  list: "Your recovery codes",
  copy: "Copy all",
  copied: "Copied",
  kept: (destination: string) => `I have kept them, continue to ${destination}`,
  keptHere: "I have kept them",
};
