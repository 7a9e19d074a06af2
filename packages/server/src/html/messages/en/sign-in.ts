/** Signing in and out, and the frame around every page. */
import { formatDuration } from "../format.ts";

const LOCALE = "en";

export const frame = {
  signInBy: "Sign-in by Signet",
  about: "Signet: sign-in and authorization for organisations",
  /** The document title of a page: what it is about first, so that it is what a narrow tab shows. */
  documentTitle: (title: string, organisation: string) => `${title} · ${organisation}`,
};

export const error = {
  titles: {
    badRequest: "This request cannot be continued",
    notPermitted: "You cannot open this page",
    notFound: "There is nothing at this address",
    tooMany: "Too many requests",
    internal: "Something went wrong on our side",
    unavailable: "Signet is busy right now",
  },
  advice: {
    badRequest:
      "Go back to the application you came from and try again. If it happens again, tell its support.",
    notPermitted: "Sign in with another account, or ask an administrator of your organisation.",
    notFound: "Check the address, or go back to the application you came from.",
    tooMany: "Wait a few minutes, then try again.",
    internal:
      "It is not your fault. Try again in a moment; if it happens again, tell support the reference below.",
    unavailable: "Wait a moment, then try again.",
  },
  /** Told to the person alone, because no application can be: by the stable name of the error's reason. */
  reasons: {
    "client-id-missing": "The link names no application (client_id is missing).",
    "client-unknown": "The application (client_id) is not known here.",
    "redirect-uri-missing": "The link does not say where to go back to (redirect_uri is missing).",
    "redirect-uri-unregistered":
      "The address to go back to (redirect_uri) is not registered for this application.",
    "app-id-missing": "The link names no application (appId is missing).",
    "app-unknown": "The application (appId) is not known here.",
    "return-url-missing": "The link does not say where to go back to (returnUrl is missing).",
    "return-url-unregistered":
      "The address to go back to (returnUrl) is not registered for this application.",
    "page-too-old": "This page is too old. Go back to the application and start again.",
    "answer-foreign":
      "This answer does not belong to a sign-in that was started here. Try again from the start page.",
    "sign-in-not-completed": "The sign-in was not completed.",
    "administrators-only": "This page is for administrators of the organisation.",
    "foreign-form":
      "This form was sent from another site, and nothing was done. Open the page here and fill it in yourself.",
  },
  reference: "Reference",
  back: (application: string) => `Go to ${application}`,
};

export const signIn = {
  title: (application: string) => `Sign in to continue to ${application}`,
  heading: "Sign in",
  headingTo: (application: string) => `to continue to ${application}`,
  email: "Email",
  password: "Password",
  submit: (application: string) => `Continue to ${application}`,
  failed: "You are not signed in yet",
  /** For who is signed in, and comes to change something. */
  again: "Confirm it is you",
  againText: "You are signed in. Changes need a sign-in from the last ten minutes.",
  invalidCredentials: "That email and password do not belong together. Check both and try again.",
  rateLimited: (seconds: number) =>
    `There were too many attempts. Wait ${formatDuration(LOCALE, seconds)}, then try again.`,
  rateLimitedSoon: "There were too many attempts. Wait a few minutes, then try again.",
  busy: (seconds: number) =>
    `Many people are signing in right now. Wait ${formatDuration(LOCALE, seconds)}, then try again; nothing is wrong with what you typed.`,
  busySoon:
    "Many people are signing in right now. Wait a moment, then try again; nothing is wrong with what you typed.",
  disabled: (organisation: string, application: string) =>
    `Your account at ${organisation} cannot be used for ${application}. Ask an administrator of ${organisation}.`,
  expired: "This page waited too long",
  sessionExpired: "Nothing is lost: enter your password again to continue.",
  or: "or",
  usePasskey: "Sign in with a passkey",
  invalidPasskey: "That passkey does not work here. Use your password, or another passkey.",
  passkeyFailed: "Your browser got no passkey. Try again, or use your password.",
};

/** What a sign-in leads to when no application asked for it; stands where an application's name would. */
export const places = {
  account: (organisation: string) => `your account at ${organisation}`,
  device: (organisation: string) => `your device at ${organisation}`,
  devices: (organisation: string) => `the devices of ${organisation}`,
  console: (organisation: string) => `the console of ${organisation}`,
  application: (organisation: string) => `an application of ${organisation}`,
};

/** The application is for some of the organisation's users. */
export const notAssigned = {
  heading: (application: string) => `You cannot use ${application} yet`,
  explanation: (organisation: string, application: string) =>
    `At ${organisation}, ${application} is only for people who were assigned to it, and this account is not among them.`,
  ask: (organisation: string) => `Ask an administrator of ${organisation} to assign you.`,
  askContacts: "To be assigned, ask:",
  signedInAs: "Signed in as",
  switchAccount: "Not you? Use another account",
  back: (application: string) => `Go back to ${application}`,
};

export const account = {
  title: (application: string) => `Choose an account to continue to ${application}`,
  heading: "Choose an account",
  headingTo: (application: string) => `to continue to ${application}`,
  continueAs: (who: string) => `Continue as ${who}`,
  other: "Use another account",
};

export const signOut = {
  heading: (organisation: string) => `Sign out of ${organisation}?`,
  askedBy: (application: string) => `${application} asked for this.`,
  explanation: "Applications will ask you to sign in again in this browser.",
  signedInAs: "Signed in as",
  confirm: "Sign out",
  stay: "Stay signed in",
  doneHeading: "You are signed out",
  done: (organisation: string) =>
    `This browser is no longer signed in to ${organisation}. You can close this window.`,
  back: (application: string) => `Go to ${application}`,
};

export const formPost = {
  heading: (application: string) => `Taking you to ${application}`,
  explanation: "Scripts are off in this browser, so there is one more step.",
  submit: (application: string) => `Continue to ${application}`,
};
