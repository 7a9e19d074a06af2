/** Authorization request with PKCE, state and nonce, and its response (RFC 6749 §4.1, RFC 7636, RFC 9700 §2.1.1). */
import type { JWK } from "jose";
import { sha256Base64url } from "../base64url.ts";
import { SignetError } from "../errors.ts";
import type { FilterResult } from "../filter.ts";
import { isAllowedUrl, oauthErrorName, settingToCheck } from "../provider/http.ts";
import { fetchUserinfo } from "../provider/userinfo.ts";
import { createDpopJwk } from "../security-profile/dpop.ts";
import { pushRequest } from "../security-profile/pushed-request.ts";
import type { LoginAttempt } from "../sign-in/login-attempts.ts";
import { failure, redirect, respond } from "../sign-in/responses.ts";
import { returnUrl } from "../sign-in/return-url.ts";
import { type CallbackParameter, callbackUrl } from "../sign-in/sign-in.ts";
import { verifyIdToken } from "../tokens/id-token.ts";
import { isSignedAccessToken } from "../tokens/signed-access-token.ts";
import type { FederatedContext } from "./federated-context.ts";
import { createSession, type FederatedSession } from "./federated-session.ts";
import { requestTokens } from "./provider-calls.ts";
import { atResponse, organisationWanted } from "./session-organisation.ts";

export async function startLogin(
  context: FederatedContext,
  request: Request,
  returnTo: string | null | undefined,
  cookies: readonly string[] = [],
): Promise<FilterResult> {
  try {
    const { authorization_endpoint: endpoint } = await context.provider.metadata();
    if (endpoint === undefined || !isAllowedUrl(endpoint, context.environment))
      throw new SignetError("provider_answer", "The provider has no usable authorization endpoint.");
    const organisation = await organisationWanted(context, request);
    const dpopKey = context.security.usesDpop ? await createDpopJwk() : undefined;
    const added = { organisation, dpopKey };
    const created = await context.attempts.create(request, returnUrl(context, returnTo), added);
    const { state, nonce, verifier } = created.attempt;
    const parameters = {
      ...context.authorizationParameters,
      response_type: "code",
      client_id: context.clientId,
      redirect_uri: callbackUrl(context),
      scope: context.scope,
      state,
      nonce,
      code_challenge: await sha256Base64url(verifier),
      code_challenge_method: "S256",
      ...(organisation === undefined ? {} : { organisation }),
    };
    const url = await authorizationUrl(context, endpoint, parameters, dpopKey);
    return respond(redirect(url.href, [...cookies, ...created.cookies]));
  } catch (error) {
    if (!(error instanceof SignetError)) throw error;
    return failure(context, request, error, { returnTo: returnTo ?? undefined });
  }
}

/** With the request in it, or with the reference to a pushed one (RFC 9126 §4), whose errors come at once. */
async function authorizationUrl(
  context: FederatedContext,
  endpoint: string,
  parameters: Readonly<Record<string, string>>,
  dpopKey: JWK | undefined,
): Promise<URL> {
  const url = new URL(endpoint);
  const { security, dpopOf } = context;
  const { requestSigner } = security;
  const client = { ...context, dpop: dpopOf(dpopKey) };
  const asked = requestSigner ? { ...parameters, response_mode: "jwt" } : parameters;
  const query = security.isPushed ? await pushRequest(client, asked, requestSigner) : parameters;
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  if (!security.isPushed) await context.checkAuthorizationRequest(url);
  return url;
}

export async function finishLogin(
  context: FederatedContext,
  attempt: LoginAttempt,
  parameter: CallbackParameter,
): Promise<FederatedSession> {
  const [error, code] = [parameter("error"), parameter("code")];
  const at = await atResponse(context, attempt, parameter("iss"));
  // Only the error's name is used: its description is somebody else's text.
  if (error !== undefined) throw notSignedIn(oauthErrorName(error));
  if (code === undefined) throw new SignetError("provider_answer", "The response has no code.");
  // A code is single-use. If the page is reloaded meanwhile, both requests are the same sign-in.
  const key = await sha256Base64url(`${attempt.state} ${code}`);
  return context.logins.run(key, () => redeemCode(at, attempt, code));
}

function notSignedIn(oauthError: string): SignetError {
  const description = "The provider did not sign the user in.";
  const message = `${description}${settingToCheck(oauthError)}`;
  return new SignetError("provider_refused", message, { oauthError, description });
}

async function redeemCode(
  context: FederatedContext,
  attempt: LoginAttempt,
  code: string,
): Promise<FederatedSession> {
  const { issuer, clientId, keys, algorithm, clock, maxAgeSeconds, party, scope, isSovereign } = context;
  const { nonce, dpopKey } = attempt;
  const dpop = context.dpopOf(dpopKey);
  const response = await requestTokens(
    { ...context, dpop },
    {
      grant_type: "authorization_code",
      code,
      redirect_uri: callbackUrl(context),
      code_verifier: attempt.verifier,
    },
  );
  const { accessToken, idToken } = response;
  if (idToken === undefined) throw new SignetError("provider_answer", "The provider issued no ID token.");
  const checks = { keys, issuer, clientId, algorithm, nonce, accessToken, maxAgeSeconds, clock };
  const claims = await verifyIdToken(idToken, checks);
  const isSigned = await isSignedAccessToken(context, accessToken, claims.sub);
  const fetched = await fetchUserinfo({ ...context, dpop, signed: context }, accessToken, claims.sub);
  const login = { party, idToken, claims, fetched, response, scope, isSigned, isSovereign, dpopKey };
  const session = createSession(login, clock());
  // An expired session would send the browser to sign in again, in an endless loop.
  if (session.refreshToken === undefined && session.endsAt <= clock())
    throw new SignetError("provider_answer", "The provider's tokens have already expired.");
  return session;
}
