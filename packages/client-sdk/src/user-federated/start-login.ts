/** The way to the service's login page (specification, "Legacy federation", step 1). */
import type { FilterResult } from "../filter.ts";
import { answered, redirect } from "../oauth-federated/answers.ts";
import { returnAddress } from "../oauth-federated/return-to.ts";
import { type FederationContext, ownPathsOf } from "./federation-context.ts";

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
  const { federationServer, applicationId, origin, basePath, prompt } = context;
  const { attempt, cookies: kept } = await context.attempts.begin(request, returnAddress(context, returnTo));
  const returnUrl = `${origin}${ownPathsOf(basePath).callback}?${new URLSearchParams({ state: attempt.state })}`;
  const query = new URLSearchParams({ appId: applicationId, returnUrl, ...(prompt ? { prompt } : {}) });
  return answered(redirect(`${federationServer}/federation/Login?${query}`, [...cookies, ...kept]));
}
