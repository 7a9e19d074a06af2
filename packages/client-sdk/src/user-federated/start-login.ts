/** The way to the service's login page (specification, "Legacy federation", step 1). */
import type { FilterResult } from "../filter.ts";
import { answered, redirect } from "../sign-in/answers.ts";
import { returnAddress } from "../sign-in/return-to.ts";
import { callbackAddressOf } from "../sign-in/sign-in-context.ts";
import type { FederationContext } from "./federation-context.ts";

/**
 * Sends the browser to the service. The address to come back to names the attempt, of which this very browser gets a cookie: the
 * service returns whatever key somebody has, and without it a stranger's link could sign a person in as that stranger.
 *
 * @param returnTo path to come back to; another place than the application's becomes its front page
 * @param cookies to set along with it
 */
export async function startLogin(
  context: FederationContext,
  request: Request,
  returnTo: string | null | undefined,
  cookies: readonly string[] = [],
): Promise<FilterResult> {
  const { federationServer, applicationId, prompt } = context;
  const { attempt, cookies: kept } = await context.attempts.begin(request, returnAddress(context, returnTo));
  const returnUrl = `${callbackAddressOf(context)}?${new URLSearchParams({ state: attempt.state })}`;
  const query = new URLSearchParams({ appId: applicationId, returnUrl, ...(prompt ? { prompt } : {}) });
  return answered(redirect(`${federationServer}/federation/Login?${query}`, [...cookies, ...kept]));
}
