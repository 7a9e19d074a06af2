import { formatDuration, formatMoment } from "./format.ts";

const LOCALE = "en";

/** English. Another language is a copy of this file with the type `Messages`, listed in messages.ts. */
export const en = {
  locale: LOCALE as string,
  product: "Signet",
  frame: {
    signInBy: "Sign-in by Signet",
    about: "Signet: sign-in and authorization for organisations",
    /** The document title of a page: what it is about first, so that it is what a narrow tab shows. */
    documentTitle: (title: string, organisation: string) => `${title} · ${organisation}`,
  },
  signIn: {
    title: (application: string) => `Sign in to continue to ${application}`,
    heading: "Sign in",
    headingTo: (application: string) => `to continue to ${application}`,
    email: "Email",
    password: "Password",
    submit: (application: string) => `Continue to ${application}`,
    failed: "You are not signed in yet",
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
  },
  consent: {
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
  },
  scopes: {
    openid: "Recognise you when you come back",
    profile: "See your name and username",
    email: "See your email address and whether it is confirmed",
    phone: "See your phone number",
    offline_access: "Stay connected while you are not using it",
  },
  account: {
    title: (application: string) => `Choose an account to continue to ${application}`,
    heading: "Choose an account",
    headingTo: (application: string) => `to continue to ${application}`,
    continueAs: (who: string) => `Continue as ${who}`,
    other: "Use another account",
  },
  signOut: {
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
  },
  formPost: {
    heading: (application: string) => `Taking you to ${application}`,
    explanation: "Scripts are off in this browser, so there is one more step.",
    submit: (application: string) => `Continue to ${application}`,
  },
  error: {
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
      internal: "It is not your fault. Try again in a moment; if it stays, tell support the reference below.",
      unavailable: "Wait a moment, then try again.",
    },
    reference: "Reference",
    back: (application: string) => `Go to ${application}`,
  },
  landing: {
    heading: "Signet is running",
    summary:
      "Signet signs people and services in to applications, with one OAuth 2.0 and OpenID Connect issuer per organisation.",
    running:
      "Applications find their organisation’s sign-in through the discovery address that its administrator gives them.",
    demoHeading: "See a sign-in from start to end",
    demoText:
      "Sign in as a person would, allow the demo application to see your profile, and look at the tokens it gets.",
    tryIt: "Try it",
    credentials:
      "The email addresses and passwords to use are printed in the terminal that started Signet, and kept in",
    organisations: "Organisations",
    organisationsText:
      "Each has an issuer of its own. Point an OpenID Connect library at one and it finds the rest.",
    issuer: "Issuer",
    discovery: "Discovery document",
    discoveryOf: (organisation: string) => `Discovery document of ${organisation}`,
    documentation: "Documentation",
  },
  tokens: {
    heading: "You are signed in",
    summary: (application: string) =>
      `${application} exchanged its code for the two tokens below and checked their signatures, as any application would.`,
    idToken: "ID token",
    idTokenText: "Tells the application who signed in, and how. It is meant for the application alone.",
    accessToken: "Access token",
    accessTokenText: "Lets the application call an API. The API checks its signature, audience and scope.",
    header: "Header",
    payload: "Payload",
    verified: (algorithm: string) => `Signature verified (${algorithm})`,
    notVerified: "Signature not verified",
    keyFrom: "Key from the organisation’s published set:",
    expiresIn: (milliseconds: number) => `Expires in ${formatDuration(LOCALE, milliseconds / 1_000)}`,
    expired: "Expired",
    neverExpires: "Names no expiry",
    moment: (milliseconds: number) => `${formatMoment(LOCALE, milliseconds)} UTC`,
    encoded: "The token as it was sent",
    copy: "Copy",
    copied: "Copied",
    claims: "What the claims mean",
    again: "Try again",
    signOut: "Sign out",
  },
  claims: {
    iss: "Issuer: who made the token",
    sub: "Subject: whom it is about, a permanent id that never changes",
    aud: "Audience: who may accept it",
    exp: "Expiry: not to be accepted after this moment",
    iat: "Issued at this moment",
    nbf: "Not to be accepted before this moment",
    jti: "The token’s own id, by which it can be revoked",
    client_id: "The application that asked for it",
    azp: "Authorized party: the application it was made for",
    scope: "What the application was allowed",
    auth_time: "When the person last proved who they are",
    nonce: "Ties the token to the request that asked for it",
    acr: "How strongly the person was authenticated",
    amr: "By which means: pwd is a password",
    at_hash: "Ties the ID token to the access token beside it",
    sid: "The browser session, for signing out everywhere",
    org_id: "The organisation it belongs to",
    alg: "The signing algorithm",
    kid: "Which of the organisation’s keys signed it",
    typ: "What kind of token this is",
  },
};
