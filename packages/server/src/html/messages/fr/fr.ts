/**
 * French. « Vous » throughout, and no word that guesses the reader's gender. Names of organisations and applications
 * stand where neither elision nor contraction can be needed: « votre compte X », « vers X », « l’organisation X ».
 */
import type { Messages } from "../en/en.ts";
import { administratorConsent, consent, consents, scopes } from "./consents.ts";
import { consoleTexts } from "./console/console.ts";
import { claims, landing, mailbox, tokens } from "./demo.ts";
import { device } from "./device.ts";
import { devices } from "./devices.ts";
import { action, brokenLink, mails, recovery, verifyEmail } from "./mail.ts";
import { enrolment, recoveryCodes, twoFactor } from "./second-factors.ts";
import { security } from "./security.ts";
import { accountNav, sessions } from "./sessions.ts";
import { account, error, formPost, frame, notAssigned, places, signIn, signOut } from "./sign-in.ts";
import { wait } from "./wait.ts";

export const fr: Messages = {
  locale: "fr",
  product: "Signet",
  frame,
  error,
  signIn,
  places,
  notAssigned,
  account,
  signOut,
  formPost,
  twoFactor,
  enrolment,
  recoveryCodes,
  security,
  scopes,
  consent,
  consents,
  administratorConsent,
  console: consoleTexts,
  device,
  devices,
  accountNav,
  sessions,
  recovery,
  brokenLink,
  action,
  verifyEmail,
  wait,
  mails,
  landing,
  tokens,
  claims,
  mailbox,
};
