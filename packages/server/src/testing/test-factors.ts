/** Second factors of a test's people: given to them behind the pages, and shown on the pages. */
import { randomUUID } from "node:crypto";
import { sha256Base64url } from "@signet/protocol/hash";
import { generateSync } from "otplib";
import { relyingPartyOf } from "../core/second-factors/passkeys/passkey.ts";
import {
  creationOptions,
  readPasskeyAnswer,
  verifyNewPasskey,
} from "../core/second-factors/passkeys/passkeys.ts";
import { insertPasskey } from "../core/second-factors/passkeys/store.ts";
import { makeRecoveryCodes } from "../core/second-factors/recovery-codes/recovery-codes.ts";
import { addTotp, newTotpSecret } from "../core/second-factors/totp/totp.ts";
import type { Service } from "../open-service.ts";
import { type SoftPasskey, softPasskey } from "./soft-passkey.ts";
import type { TestBrowser, TestPage } from "./test-browser.ts";
import type { TestOrganisation } from "./test-service.ts";
import { follow } from "./test-visit.ts";

const STEP_MS = 30_000;

export interface AuthenticatorApp {
  readonly secret: string;
  /** The code of a moment, in milliseconds. */
  code(at: number): string;
}

const appOf = (secret: string): AuthenticatorApp => ({
  secret,
  code: (at) => generateSync({ secret, epoch: Math.floor(at / 1000) }),
});

/** The user has an authenticator app from now on; no step of it is used yet. */
export async function giveAuthenticator(service: Service, org: TestOrganisation): Promise<AuthenticatorApp> {
  const secret = await newTotpSecret();
  const now = service.clock();
  const step = Math.floor(now / STEP_MS) - 2;
  await addTotp(service, service.database.query, ownerIn(org), { secret, step, now });
  return appOf(secret);
}

export const ownerIn = (org: TestOrganisation) => ({
  homeOrgId: org.organisation.id,
  userId: org.user.id,
});

/** The app that was set up from a page which shows this key. */
export function appOfPage({ body }: TestPage): AuthenticatorApp {
  const key = /id="totp-key">([^<]+)</.exec(body)?.[1];
  if (key === undefined) throw new Error("no key on the page");
  return appOf(key.replaceAll(" ", ""));
}

export function giveRecoveryCodes(service: Service, org: TestOrganisation): Promise<string[]> {
  return service.database.transaction((tx) => makeRecoveryCodes(tx, ownerIn(org), service.clock()));
}

/** The user has a passkey from now on. */
export async function givePasskey(
  service: Service,
  org: TestOrganisation,
  options: { isSynced?: boolean } = {},
): Promise<SoftPasskey> {
  const relyingParty = relyingPartyOf(service.config.baseUrl);
  const passkey = softPasskey({ origin: relyingParty.origin, ...options });
  const asked = creationOptions({
    relyingParty,
    challenge: sha256Base64url(randomUUID()),
    user: org.user,
    organisationName: org.organisation.name,
    existing: [],
  });
  const answer = readPasskeyAnswer(passkey.register({ ...asked, rp: { id: relyingParty.id } }));
  const made =
    answer &&
    (await verifyNewPasskey(answer as Parameters<typeof verifyNewPasskey>[0], {
      relyingParty,
      name: "Test",
      now: service.clock(),
    }));
  if (!made) throw new Error("the soft passkey was not accepted");
  await insertPasskey(service.database.query, ownerIn(org), made.passkey);
  return passkey;
}

export const showsTwoFactor = ({ body }: TestPage): boolean =>
  body.includes('id="twofactor-submit"') && !body.includes('name="enrolment"');
export const showsEnrolment = ({ body }: TestPage): boolean => body.includes('name="enrolment"');
export const showsRecoveryCodes = ({ body }: TestPage): boolean => body.includes('id="recovery-codes"');

/** What the page's passkey form asks the browser for. */
export function passkeyOptions<Options>({ body }: TestPage): Options {
  const text = /data-options="([^"]*)"/.exec(body)?.[1];
  if (text === undefined) throw new Error("the page asks for no passkey");
  return JSON.parse(
    text.replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&amp;", "&"),
  ) as Options;
}

/** Sends the two-factor page's form, and follows. */
export async function showFactor(
  browser: TestBrowser,
  org: TestOrganisation,
  page: TestPage,
  typed: Readonly<Record<string, string>>,
): Promise<TestPage> {
  return follow(browser, await browser.post(`${org.issuer}/twofactor`, { ...page.hidden, ...typed }));
}

/** The codes that the page shows. */
export function recoveryCodesOf({ body }: TestPage): string[] {
  return (/id="recovery-codes"[^>]*>([^<]+)</.exec(body)?.[1] ?? "").split("\n");
}
