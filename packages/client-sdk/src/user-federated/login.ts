/** To the service's login page and back (specification, "Legacy federation", steps 1 to 3). */
import { SignetError } from "../errors.ts";
import type { FilterResult } from "../filter.ts";
import { oauthErrorName } from "../provider/http.ts";
import { redirect, respond } from "../sign-in/responses.ts";
import { returnUrl } from "../sign-in/return-url.ts";
import { type CallbackParameter, callbackUrl } from "../sign-in/sign-in.ts";
import { type LegacySession, type UserFederatedContext, validateSessionKey } from "./session-key.ts";

/** The return URL names the attempt, whose cookie only this browser has: otherwise a link could sign a user in as an attacker. */
export async function startLogin(
  context: UserFederatedContext,
  request: Request,
  returnTo: string | null | undefined,
  cookies: readonly string[] = [],
): Promise<FilterResult> {
  const { federationServer, applicationId, prompt } = context;
  const created = await context.attempts.create(request, returnUrl(context, returnTo));
  const callback = `${callbackUrl(context)}?${new URLSearchParams({ state: created.attempt.state })}`;
  const query = { appId: applicationId, returnUrl: callback, ...(prompt ? { prompt } : {}) };
  const url = `${federationServer}/federation/Login?${new URLSearchParams(query)}`;
  return respond(redirect(url, [...cookies, ...created.cookies]));
}

export async function finishLogin(
  context: UserFederatedContext,
  parameter: CallbackParameter,
): Promise<LegacySession> {
  const error = parameter("error");
  if (error !== undefined)
    throw new SignetError("provider_refused", "The service did not sign the user in.", {
      oauthError: oauthErrorName(error),
    });
  const key = parameter("service_key");
  if (key === undefined || !/^[\x21-\x7e]{1,200}$/.test(key))
    throw new SignetError("provider_answer", "The response has no session key.");
  return validateSessionKey(context, key);
}
