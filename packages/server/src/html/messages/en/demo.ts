/** The landing page and the demo's own pages. */
import { formatDuration, formatMoment } from "../format.ts";

const LOCALE = "en";

export const landing = {
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
  mails: "Mails are not sent. They are kept in the",
  mailbox: "mailbox",
  organisations: "Organisations",
  organisationsText:
    "Each has an issuer of its own. Point an OpenID Connect library at one and it finds the rest.",
  issuer: "Issuer",
  discovery: "Discovery document",
  discoveryOf: (organisation: string) => `Discovery document of ${organisation}`,
  console: "Open the console",
  consoleOf: (organisation: string) => `Open the console: ${organisation}`,
  documentation: "Documentation",
  apiReference: "API reference",
};

export const tokens = {
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
};

export const claims = {
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
};

export const mailbox = {
  heading: "Mailbox",
  explanation:
    "What this demo would have sent. SMTP_URL makes Signet send mail for real, and closes this page.",
  empty: "There is no mail yet. Sign in with a new browser, or say that you forgot your password.",
  list: "Mails, the newest first",
  to: "To",
  at: "When",
  moment: (milliseconds: number) => `${formatMoment(LOCALE, milliseconds)} UTC`,
  back: "All mails",
};
