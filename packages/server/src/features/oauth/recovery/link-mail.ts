/** Emails a link to reset a password or verify an address, within rate limits. Link, email and audit event are written in one transaction. */
import { sha256Base64url } from "@signet/protocol/hash";
import { nobody, sendLinkMail } from "../../../core/actions/actions.ts";
import { linkAddress } from "../../../core/actions/link-address.ts";
import { isEnforced } from "../../../core/domains/enforced-sign-in.ts";
import { isBrowserOfAddress } from "../../../core/known-browsers/known-browsers.store.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import { takesPasswords } from "../../../core/organisations/sign-in-methods.ts";
import {
  type Counted,
  countAttempt,
  networkPrefix,
  RateLimited,
  rateLimitHeaders,
} from "../../../core/rate-limits/rate-limits.ts";
import { emailKey, type User } from "../../../core/users/user.ts";
import { findUserByEmail } from "../../../core/users/users.store.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import type { BrowserDeps, Visit } from "../authorize/browser.ts";
import type { Flow } from "../authorize/flow.ts";

/** How long to wait; the response headers are set. */
export interface MailLimited {
  readonly retryAfterSeconds: number;
}

/**
 * Counts a request, whether or not the address has an account.
 * @param mailbox identifies the recipient
 * @returns undefined when it may be sent
 */
export const countMailRequest = (
  deps: BrowserDeps,
  visit: Visit,
  mailbox: string,
): Promise<MailLimited | undefined> =>
  count(deps, visit, [{ limit: deps.rateLimits["recovery-account"], subject: mailbox }]);

/**
 * The same for a code or link that works in this browser alone. Nobody else's requests use up what a network has left for a
 * mailbox, nor what a browser has that has signed in to its account before.
 */
export async function countCodeRequest(
  deps: BrowserDeps,
  visit: Visit,
  email: string,
): Promise<MailLimited | undefined> {
  const { organisation, request } = visit;
  const { "email-code-source": source, "email-code-mailbox": mailbox } = deps.rateLimits;
  const key = emailKey(email);
  const browserHash = sha256Base64url(deps.recognition.read(request, organisation.id) ?? "");
  const browser = { orgId: organisation.id, emailKey: key, browserHash, now: deps.clock() };
  if (await isBrowserOfAddress(deps.database.query, browser))
    return count(deps, visit, [{ limit: source, subject: `${key}|browser|${browserHash}` }]);
  const network = networkPrefix(addressOf(request));
  return count(deps, visit, [
    { limit: source, subject: `${key}|${network}` },
    { limit: mailbox, subject: key },
  ]);
}

async function count(
  deps: BrowserDeps,
  { organisation, request, reply }: Visit,
  counted: readonly Counted[],
): Promise<MailLimited | undefined> {
  try {
    await countAttempt(deps, organisation.id, [
      { limit: deps.rateLimits["recovery-address"], subject: networkPrefix(addressOf(request)) },
      ...counted,
    ]);
    return undefined;
  } catch (error) {
    if (!(error instanceof RateLimited)) throw error;
    const { retryAfterSeconds } = error;
    reply.headers({ ...rateLimitHeaders(error), "retry-after": String(retryAfterSeconds) });
    return { retryAfterSeconds };
  }
}

export interface LinkOptions {
  readonly flow: Flow | undefined;
  /** For users who have not chosen a language. */
  readonly locale: string;
}

/** For an address without an account the same statements write decoy rows: response and timing disclose nothing. */
export async function sendResetMail(
  deps: BrowserDeps,
  visit: Visit,
  email: string,
  options: LinkOptions,
): Promise<void> {
  const { organisation } = visit;
  const found = await findUserByEmail(deps.database.query, organisation.id, emailKey(email));
  const isClosed =
    (await isEnforced(deps.database.query, organisation.id, email)) || !takesPasswords(organisation.settings);
  const recipient =
    found?.user.disabledAt === null && !isClosed ? { user: found.user, home: organisation } : undefined;
  await send(deps, visit, "ResetPassword", recipient, { email, ...options });
}

/** Only the home organisation changes an account: the link of a roaming user leads there. */
export async function sendVerifyMail(
  deps: BrowserDeps,
  visit: Visit,
  user: User,
  options: LinkOptions,
): Promise<void> {
  const { organisation } = visit;
  const isHome = user.homeOrgId === organisation.id;
  const home = isHome ? organisation : await deps.organisations.find(user.homeOrgId);
  if (home) await send(deps, visit, "VerifyEmail", { user, home }, { email: user.email, ...options });
}

const requested = {
  ResetPassword: "password-reset.requested",
  VerifyEmail: "verify-email.requested",
} as const;

async function send(
  deps: BrowserDeps,
  { organisation, request }: Visit,
  type: keyof typeof requested,
  recipient: { user: User; home: Organisation } | undefined,
  { email, flow, locale }: LinkOptions & { email: string },
): Promise<void> {
  const { user, home } = recipient ?? { home: organisation };
  const address = user?.email ?? email;
  // A flow belongs to one organisation; and unknown addresses must not fill the database.
  const sealed = user && home.id === organisation.id && flow ? { flow: deps.flows.seal(flow) } : {};
  await deps.database.transaction((tx) =>
    sendLinkMail(tx, deps, {
      orgId: home.id,
      type,
      userId: user?.id ?? nobody(emailKey(email)),
      data: { email: address, ...sealed },
      recipient: address,
      locale: user?.locale ?? locale,
      addressOf: linkAddress(deps.baseUrl, type),
      isVerified: user?.emailVerified,
      isDecoy: user === undefined,
      audit: {
        orgId: organisation.id,
        actor: user && type === "VerifyEmail" ? `user:${user.id}` : "anonymous",
        action: requested[type],
        address: addressOf(request),
        typedEmail: email,
        ...(user ? { target: user.id } : { details: { reason: "no usable account" } }),
      },
    }),
  );
}
