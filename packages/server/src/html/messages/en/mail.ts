/** Account recovery, address verification, and the mails themselves. */
import { formatDuration, formatMinute } from "../format.ts";

const LOCALE = "en";

const utc = (milliseconds: number) => `${formatMinute(LOCALE, milliseconds)} UTC`;

export const recovery = {
  forgot: "Forgot your password?",
  heading: "Forgot your password?",
  explanation: (organisation: string) =>
    `Enter the email address of your account at ${organisation}. You get a mail with a link to set a new password.`,
  email: "Email",
  send: "Send the mail",
  back: "Back to sign-in",
  notSent: "No mail was sent",
  invalidEmail: "This is not an email address. Check it and try again.",
  rateLimited: (seconds: number) =>
    `There were many requests. Use the newest mail that you have, or wait ${formatDuration(LOCALE, seconds)} and try again.`,
  expired: "This page waited too long",
  sendAgain: "Nothing is lost: send it once more.",
  sentHeading: "Look into your mail",
  sent: (email: string, organisation: string) =>
    `If ${organisation} has an account for ${email}, a mail with a link is on its way to it. The link works once, for an hour.`,
  nothingArrived: "Nothing there after some minutes? Look among the unwanted mail, and check the address.",
  tryAgain: "Try another address",
  notSetUpHeading: "Mail is not set up here",
  notSetUp: (organisation: string) =>
    `So no link can be sent to you. Ask an administrator of ${organisation} to give you a new password.`,
  newHeading: "Set a new password",
  account: "For the account",
  newPassword: "New password",
  hint: (least: number) =>
    `At least ${least} characters. Some words that do not belong together are easy to remember.`,
  signsOut: "Whoever is signed in with the old one is signed out, here and everywhere.",
  set: "Set this password",
  notChanged: "The password is still the old one",
  refused: {
    "too-short": (least: number) => `Choose a longer one: at least ${least} characters.`,
    "too-long": (most: number) => `Choose a shorter one: at most ${most} characters.`,
    "repeats-pattern": "It repeats one pattern. Choose one that is harder to guess.",
    "is-sequence": "It is a plain sequence. Choose one that is harder to guess.",
    "is-common": "It is one of those that are tried first. Choose one that is harder to guess.",
    "is-about-user": "It is made of your name or address. Choose one that is harder to guess.",
  },
  busy: (seconds: number) =>
    `Many people are signing in right now. Wait ${formatDuration(LOCALE, seconds)}, then type it again; nothing is wrong with it.`,
  typeAgain: "Nothing is lost: type the new password once more.",
  doneHeading: "Your password is changed",
  done: (organisation: string) =>
    `You are signed out of ${organisation} everywhere. Sign in with the new password now.`,
  doneElsewhere: "You can close this window, and sign in where you came from.",
  checkFactors: "Somebody else may have known the old password? Look at what else signs you in.",
  goOn: (application: string) => `Continue to ${application}`,
};

export const brokenLink = {
  heading: "This link does not work any more",
  explanation:
    "It was used already, it is too old, or a newer one was sent. The newest mail has the one that works.",
  another: "Ask for a new mail",
};

export const verifyEmail = {
  heading: "Confirm your email address",
  explanation: (organisation: string) =>
    `${organisation} lets you continue when you have shown that this address is yours. You get a mail with a link.`,
  signedInAs: "Signed in as",
  switchAccount: "Not you? Use another account",
  send: "Send the mail",
  sentHeading: "Look into your mail",
  sent: (email: string) => `A mail with a link is on its way to ${email}. The link works once, for a day.`,
  nothingArrived: "Nothing there after some minutes? Look among the unwanted mail.",
  notSetUp: (organisation: string) =>
    `So no link can be sent to you. Ask an administrator of ${organisation} to confirm your address.`,
  confirmHeading: "Is this your email address?",
  confirmText: (organisation: string) =>
    `Somebody, most likely you, has an account at ${organisation} with it. If you know nothing of that, close this page: nothing happens.`,
  account: "For the account",
  confirm: "Yes, confirm it",
  notConfirmed: "The address is not confirmed yet",
  confirmAgain: "Nothing is lost: confirm it once more.",
  doneHeading: "Your email address is confirmed",
  done: (organisation: string) => `${organisation} knows now that it is yours.`,
};

/** Links of the other kinds: a button, and what it does. */
export const action = {
  account: "For the account",
  newAddress: "New address",
  expired: "This page waited too long",
  again: "Nothing is lost: try it once more.",
  notSet: "There is no password yet",
  busy: (seconds: number) =>
    `Many people are signing in right now. Wait ${formatDuration(LOCALE, seconds)}, then try again; nothing is wrong with what you typed.`,
  VerifyEmail: {
    heading: "Is this your email address?",
    text: (organisation: string) =>
      `Somebody, most likely you, has registered at ${organisation} with it. If you know nothing of that, close this page: nothing happens.`,
    confirm: "Yes, confirm it",
    doneHeading: "Your email address is confirmed",
    done: (organisation: string) => `You can sign in to ${organisation} now.`,
  },
  AcceptInvitation: {
    heading: "Choose a password",
    text: (organisation: string) => `With it you sign in to ${organisation}.`,
    confirm: "Set this password",
    doneHeading: "Your account is ready",
    done: (organisation: string) => `You can sign in to ${organisation} now.`,
  },
  AcceptRoaming: {
    heading: "Use your account here too?",
    text: (organisation: string) =>
      `${organisation} will see your name, your email address and your phone number, and can let you into its applications. It cannot change your password. If you do not want that, close this page: nothing happens.`,
    confirm: "Yes, use it here",
    doneHeading: "Your account works here too",
    done: (organisation: string) => `You can sign in to ${organisation} with your account now.`,
  },
  ChangeEmail: {
    heading: "Is this your new email address?",
    text: (organisation: string) =>
      `When you confirm it, your account at ${organisation} uses it, and mails go there. If you know nothing of that, close this page: nothing happens.`,
    confirm: "Yes, change it",
    doneHeading: "Your email address is changed",
    done: (organisation: string) => `Your account at ${organisation} uses the new one from now on.`,
  },
};

const factors = {
  totp: "An authenticator app",
  passkey: "A passkey",
  "recovery-codes": "A set of recovery codes",
};

export const mails = {
  test: {
    subject: (title: string) => `Test: ${title}`,
    text: "This is a test that an administrator has sent to themselves. Nothing has happened, and its button leads to nothing that could be done.",
  },
  footer: (organisation: string) =>
    `Sent by Signet for ${organisation}. Nobody reads answers to this address.`,
  fact: (name: string, value: string) => `${name}: ${value}`,
  copyLink: "If the button does not work, copy this address into your browser:",
  facts: { at: "When", browser: "Browser", address: "Network address" },
  moment: utc,
  newPassword: "Set a new password",
  notYou: "If it was not you, set a new password at once. That signs out whoever is signed in now.",
  resetPassword: {
    subject: (organisation: string) => `Set a new password for ${organisation}`,
    text: (organisation: string) =>
      `Somebody, most likely you, asked to set a new password for your account at ${organisation}.`,
    validity: (expiresAt: number) => `The link works once, until ${utc(expiresAt)}.`,
    otherwise: "If you did not ask for it, there is nothing to do: your password stays as it is.",
  },
  verifyEmail: {
    subject: (organisation: string) => `Confirm your email address for ${organisation}`,
    text: (organisation: string) => `Confirm that this is the address of your account at ${organisation}.`,
    confirm: "Confirm this address",
    validity: (expiresAt: number) => `The link works once, until ${utc(expiresAt)}.`,
    otherwise: "If you know nothing of it, there is nothing to do.",
  },
  acceptInvitation: {
    subject: (organisation: string) => `You are invited to ${organisation}`,
    text: (organisation: string) =>
      `${organisation} has made an account for you. Choose a password, and it is yours.`,
    confirm: "Choose a password",
    validity: (expiresAt: number) => `The link works once, until ${utc(expiresAt)}.`,
    otherwise: "If you know nothing of it, there is nothing to do: nobody can sign in to that account.",
  },
  acceptRoaming: {
    subject: (organisation: string) => `Sign in to ${organisation} with your account?`,
    text: (organisation: string) =>
      `You can sign in to ${organisation} with the account that you have already, if you like. ${organisation} would see your name, your email address and your phone number, and could not change your password.`,
    confirm: "See the details",
    validity: (expiresAt: number) => `The link works once, until ${utc(expiresAt)}.`,
    otherwise: "If you do not want that, there is nothing to do: nothing changes.",
  },
  changeEmail: {
    subject: (organisation: string) => `Confirm your new email address for ${organisation}`,
    text: (organisation: string) =>
      `Confirm that this is the new address of your account at ${organisation}. Until then the old one stays.`,
    confirm: "Confirm this address",
    validity: (expiresAt: number) => `The link works once, until ${utc(expiresAt)}.`,
    otherwise: "If you know nothing of it, there is nothing to do.",
  },
  accountExists: {
    subject: (organisation: string) => `You have an account at ${organisation} already`,
    text: (organisation: string) =>
      `Somebody, most likely you, wanted to register at ${organisation} with this address. There is an account with it already, and nothing has changed.`,
    advice:
      "Sign in with the password that you have. If you do not remember it, set a new one. If it was not you, there is nothing to do.",
  },
  emailChanged: {
    subject: (organisation: string) => `Your email address at ${organisation} was changed`,
    text: (organisation: string) =>
      `Your account at ${organisation} has another email address from now on. This one is not used for it any more.`,
    advice: (organisation: string) =>
      `If it was not you, tell an administrator of ${organisation} at once: mails with links go to the other address now.`,
  },
  accountDeleted: {
    subject: (organisation: string) => `Your account at ${organisation} was deleted`,
    text: (organisation: string) =>
      `Your account at ${organisation} is gone, with all that was kept about you there. You are signed out everywhere, and the applications have been told.`,
    advice: (organisation: string) =>
      `If it was not you, tell an administrator of ${organisation} at once. The account cannot be brought back.`,
  },
  passwordChanged: {
    subject: (organisation: string) => `Your password for ${organisation} was changed`,
    text: (organisation: string) =>
      `Your account at ${organisation} has a new password. Whoever was signed in with the old one is signed out.`,
  },
  newSignIn: {
    subject: (organisation: string) => `New sign-in to ${organisation}`,
    text: (organisation: string) =>
      `Somebody signed in to your account at ${organisation} with a browser that was not used for it before. If it was you, there is nothing to do.`,
  },
  factorAdded: {
    subject: (factor: keyof typeof factors, organisation: string) =>
      `${factors[factor]} was added to your account at ${organisation}`,
    text: (factor: keyof typeof factors, organisation: string) =>
      `${factors[factor]} was added to your account at ${organisation}. It can be used to sign in from now on.`,
  },
  factorRemoved: {
    subject: (factor: keyof typeof factors, organisation: string) =>
      `${factors[factor]} was removed from your account at ${organisation}`,
    text: (factor: keyof typeof factors, organisation: string) =>
      `${factors[factor]} was removed from your account at ${organisation}. It cannot be used to sign in any more.`,
  },
};
