/** The way to the provider: an authorization request with PKCE, state and nonce (RFC 6749 §4.1.1, RFC 7636, RFC 9700 §2.1.1). */
import { SignetError } from "../errors.ts";
import type { FilterResult } from "../filter.ts";
import { isAcceptableAddress } from "../provider/acceptable-address.ts";
import { answered, redirect, refusal } from "../sign-in/answers.ts";
import type { LoginAttempt } from "../sign-in/login-attempts.ts";
import { sha256Text } from "../sign-in/random-text.ts";
import { returnAddress } from "../sign-in/return-to.ts";
import { callbackAddressOf } from "../sign-in/sign-in-context.ts";
import type { FederatedContext } from "./federated-context.ts";

/** The filter's own; an application cannot set them, or the answer could not be checked. */
const OWN_PARAMETERS: ReadonlySet<string> = new Set(
  (
    "response_type response_mode client_id client_secret redirect_uri scope state nonce code_challenge " +
    "code_challenge_method request request_uri"
  ).split(" "),
);

/** @throws SignetError `configuration` for parameters that the filter sets itself, or that it cannot check */
export function checkAuthorizationParameters(parameters: Readonly<Record<string, string>>): void {
  const reasons = Object.entries(parameters).flatMap(([name, value]) => {
    if (OWN_PARAMETERS.has(name)) return [`authorizationParameters.${name} is set by the filter itself.`];
    if (name === "prompt" && value.split(" ").includes("none"))
      return ["authorizationParameters.prompt cannot be none: nobody would ever see a sign-in page."];
    return name === "max_age" && !/^\d{1,9}$/.test(value)
      ? ["authorizationParameters.max_age must be a number of seconds."]
      : [];
  });
  if (reasons.length > 0) throw new SignetError("configuration", reasons.join(" "), { reasons });
}

/**
 * Sends the browser to the provider.
 * @param returnTo path to come back to; another place than the application's becomes its front page
 * @param cookies to set along with it
 */
export async function startLogin(
  context: FederatedContext,
  request: Request,
  returnTo: string | null | undefined,
  cookies: readonly string[] = [],
): Promise<FilterResult> {
  try {
    const endpoint = await authorizationEndpoint(context);
    const { attempt, cookies: kept } = await context.attempts.begin(
      request,
      returnAddress(context, returnTo),
    );
    const address = await authorizationAddress(context, endpoint, attempt);
    return answered(redirect(address, [...cookies, ...kept]));
  } catch (error) {
    if (error instanceof SignetError)
      return refusal(context, request, error, { returnTo: returnTo ?? undefined });
    throw error;
  }
}

async function authorizationEndpoint({ provider, environment }: FederatedContext): Promise<string> {
  const { authorization_endpoint: endpoint } = await provider.metadata();
  if (endpoint === undefined || !isAcceptableAddress(endpoint, environment))
    throw new SignetError("provider_answer", "The provider has no usable authorization endpoint.");
  return endpoint;
}

async function authorizationAddress(
  context: FederatedContext,
  endpoint: string,
  { state, nonce, verifier }: LoginAttempt,
): Promise<string> {
  const address = new URL(endpoint);
  const parameters = {
    ...context.authorizationParameters,
    response_type: "code",
    client_id: context.clientId,
    redirect_uri: callbackAddressOf(context),
    scope: context.scope,
    state,
    nonce,
    code_challenge: await sha256Text(verifier),
    code_challenge_method: "S256",
  };
  for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value);
  return address.href;
}
