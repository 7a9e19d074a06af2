/**
 * Authenticates administrators for the APIs of sovereign signing and devices: by the signature of an administrator's system
 * account, or by a browser session. A session needs the role and what the organisation requires of every sign-in; to change
 * anything it also needs a CSRF token and a recent authentication. Reading needs neither: no other site can read the answer.
 */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyRequest } from "fastify";
import type { Organisation } from "../core/organisations/organisation.ts";
import { missingAuthenticationRequirement } from "../core/second-factors/factor-status.ts";
import type { SignedIn } from "../core/sessions/session.ts";
import type { Administrator, SystemAccountCaller } from "../core/system-accounts/system-account.ts";
import type { Database } from "../db/open.ts";
import { type BrowserDeps, currentSession, isValidCsrfToken } from "../features/oauth/authorize/browser.ts";
import { lacksRequiredFactorInBrowser } from "../features/oauth/authorize/sign-in-context.ts";
import { administratorAccountAuthenticator } from "../features/system-accounts/hmac-authentication.ts";
import { withIdempotency } from "../features/system-accounts/idempotency.ts";
import { notAuthenticated } from "../http/api/api-error.ts";
import type { ApiAuthenticator } from "../http/api/api-route.ts";
import { PAGE_CHALLENGE } from "../http/challenge.ts";
import { CodedError, codedNotFound } from "../http/coded-error.ts";
import { CSRF_HEADER } from "../http/csrf.ts";
import { addressOf } from "../http/listeners/client-address.ts";
import type { AppContext } from "./app-context.ts";

type AccountAuthenticator = ApiAuthenticator<SystemAccountCaller, Database>;

export function administratorAuthenticator({
  service,
  browser,
}: Pick<AppContext, "service" | "browser">): ApiAuthenticator<Administrator, Database> {
  const accounts: AccountAuthenticator = withIdempotency(service, administratorAccountAuthenticator(service));
  return {
    // Cookies are the framework's: no operation of these APIs is answered past its router.
    authenticate: async (request: FastifyRequest, raw) => {
      const { org = "" } = request.params as { org?: string };
      const organisation = isUuid(org) ? await service.organisations.find(org.toLowerCase()) : undefined;
      if (!organisation) throw codedNotFound();
      const address = addressOf(request);
      if (request.headers.authorization === undefined) {
        const { user } = await requireAdministrator(browser, organisation, request);
        return { organisation, actor: `user:${user.id}`, address, account: undefined };
      }
      const account = await accounts.authenticate(request, raw);
      if (account.organisation.id !== organisation.id) throw codedNotFound();
      return { organisation, actor: account.actor, address, account };
    },
    authorise: async (caller, request, body, operation) => {
      if (caller.account) await accounts.authorise?.(caller.account, request, body, operation);
      return caller;
    },
    repeat: async ({ account }, request, raw, run) =>
      account && accounts.repeat ? accounts.repeat(account, request, raw, run) : run(),
  };
}

/** @throws ApiError 401, CodedError 403 */
async function requireAdministrator(
  browser: BrowserDeps,
  organisation: Organisation,
  request: FastifyRequest,
): Promise<SignedIn> {
  const signedIn = await currentSession(browser, { organisation, request });
  if (!signedIn) throw notAuthenticated("neither a signature nor a session", PAGE_CHALLENGE);
  const isReading = request.method === "GET";
  const header = request.headers[CSRF_HEADER];
  const token = typeof header === "string" ? header : undefined;
  if (!isReading && !isValidCsrfToken(browser, { organisation, request }, token))
    throw new CodedError(403, "csrf", "the CSRF token is missing or invalid", {
      cause: "no CSRF token, or one of another browser",
    });
  if (signedIn.user.role !== "Administrator")
    throw new CodedError(403, "access_denied", "only an administrator of the organisation may do this");
  await requireSignInPolicy(browser, organisation, request, signedIn);
  if (isReading) return signedIn;
  const lacking = await missingAuthenticationRequirement(browser.database.query, signedIn, browser.clock());
  if (lacking !== undefined) throw interactionRequired("sign in again, with the second factor", lacking);
  return signedIn;
}

/** What the organisation requires of every session. @throws CodedError 403 */
async function requireSignInPolicy(
  browser: BrowserDeps,
  organisation: Organisation,
  request: FastifyRequest,
  signedIn: SignedIn,
): Promise<void> {
  if (organisation.settings.requireVerifiedEmail && !signedIn.user.emailVerified)
    throw interactionRequired("verify the email address first", "verified-email");
  if (await lacksRequiredFactorInBrowser(browser, { organisation, request }, signedIn))
    throw interactionRequired("sign in again, with the second factor", "second-factor");
}

const interactionRequired = (description: string, cause: string): CodedError =>
  new CodedError(403, "interaction_required", description, { cause });
