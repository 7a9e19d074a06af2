/**
 * The first authorization request of a process, asked for by the application itself while it is developed: a wrong redirect URI is
 * told on the provider's page alone (RFC 6749 §4.1.2.1), which says nothing to the developer of the application.
 */
import { named } from "../configuration/properties.ts";
import type { Settings } from "../configuration/settings.ts";
import { SignetError } from "../errors.ts";
import type { Runtime } from "../filter.ts";
import { isLoopbackUrl } from "../provider/http.ts";

const TIMEOUT_MS = 2_000;

/** @throws SignetError `provider_refused`: the address is not one that the provider redirects to */
export function createAuthorizationCheck(
  { baseUrl = "", environment, clientId }: Settings,
  { fetch: ask }: Pick<Runtime, "fetch">,
): (url: URL) => Promise<void> {
  const isDeveloped = environment !== "production" || isLoopbackUrl(baseUrl);
  let isDone = !isDeveloped;
  return async (url) => {
    if (isDone) return;
    const response = await askOnce(url, ask ?? fetch);
    // An answer that is neither a page nor a redirect, or none, is found out by the browser.
    isDone = response !== undefined && response.status !== 400;
    if (response?.status !== 400) return;
    const description = "The provider refused the authorization request.";
    throw new SignetError(
      "provider_refused",
      `${description} Register ${url.searchParams.get("redirect_uri")} as a redirect URI of ${clientId}, or check ` +
        `${named("baseUrl")}, ${named("basePath")} and ${named("oauthClientId")}. ${url.origin}${url.pathname}`,
      { description, oauthError: "invalid_request" },
    );
  };
}

async function askOnce(url: URL, ask: typeof fetch): Promise<Response | undefined> {
  try {
    const init = { redirect: "manual", headers: { accept: "text/html" } } as const;
    const response = await ask(url, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) });
    await response.body?.cancel();
    return response;
  } catch {
    return undefined;
  }
}
