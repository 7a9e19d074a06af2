/** The authorization request, with PKCE, state and nonce (RFC 6749 §4.1.1, RFC 7636, RFC 9700 §2.1.1). */
import { sha256Base64url } from "../base64url.ts";
import { SignetError } from "../errors.ts";
import type { FilterResult } from "../filter.ts";
import { isAllowedUrl } from "../provider/allowed-url.ts";
import { failure, redirect, respond } from "../sign-in/responses.ts";
import { returnUrl } from "../sign-in/return-url.ts";
import { callbackUrl } from "../sign-in/sign-in.ts";
import type { FederatedContext } from "./federated-context.ts";

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
    const created = await context.attempts.create(request, returnUrl(context, returnTo));
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
    };
    const url = new URL(endpoint);
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    return respond(redirect(url.href, [...cookies, ...created.cookies]));
  } catch (error) {
    if (!(error instanceof SignetError)) throw error;
    return failure(context, request, error, { returnTo: returnTo ?? undefined });
  }
}
