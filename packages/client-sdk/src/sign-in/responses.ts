/** The responses that browser filters send themselves. */
import { withCookies } from "../cookies/cookie-header.ts";
import type { SignetError } from "../errors.ts";
import type { FilterResult } from "../filter.ts";
import { builtInPage, type FrontPage } from "./built-in-pages.ts";
import { requestKind } from "./request-kind.ts";
import { loginUrl, type SignInContext } from "./sign-in.ts";

export const respond = (response: Response, error?: Error): FilterResult =>
  error === undefined ? { kind: "answer", response } : { kind: "answer", response, error };

/** @param url absolute, at the application or the provider */
export function redirect(url: string, cookies: readonly string[] = [], status: 302 | 303 = 302): Response {
  const headers = {
    location: url,
    "cache-control": "no-store",
    // The current URL may contain an authorization code.
    "referrer-policy": "no-referrer",
  };
  return withCookies(new Response(null, { status, headers }), cookies);
}

export function json(
  status: number,
  body: Readonly<Record<string, unknown>>,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store", ...headers },
  });
}

/** 401 for requests that can't be redirected; scripts send their page to `login_url`. */
export function unauthorized(
  context: Pick<SignInContext, "origin" | "basePath">,
  cookies: readonly string[],
): Response {
  const login_url = loginUrl(context);
  const body = { error: "login_required", error_description: "Sign in first.", login_url };
  // RFC 9110 §11.6.1 requires a challenge with every 401. Browsers show no dialogue for an unknown scheme.
  const challenge = { "www-authenticate": `Signet login="${login_url}"` };
  return withCookies(json(401, body, challenge), cookies);
}

const RETRY_SECONDS = "5";

/** A failure of the provider or of its response, as a page or as JSON. */
export async function failure(
  context: Pick<SignInContext, "origin" | "basePath" | "showPage">,
  request: Request,
  error: SignetError,
  {
    returnTo,
    cookies = [],
  }: { readonly returnTo?: string | undefined; readonly cookies?: readonly string[] } = {},
): Promise<FilterResult> {
  const page = failurePage(error);
  const retry = page === "try_later" ? { "retry-after": RETRY_SECONDS } : {};
  const kind = requestKind(request);
  if (kind === "fetch" || kind === "prefetch") {
    const { reference } = error;
    const body = { error: error.oauthError ?? error.code, error_description: error.description, reference };
    return respond(withCookies(json(builtInPage(page, undefined).status, body, retry), cookies), error);
  }
  const action = { label: "Try again", address: loginUrl(context, returnTo), method: "get" } as const;
  const shown = { ...builtInPage(page, action), reference: error.reference };
  const response = await context.showPage(shown, request);
  for (const [name, value] of Object.entries(retry)) response.headers.set(name, value);
  return respond(withCookies(response, cookies), error);
}

function failurePage({ code, oauthError }: SignetError): FrontPage["kind"] {
  if (code === "login_state") return "sign_in_again";
  if (code === "provider_unreachable") return "try_later";
  if (oauthError === "access_denied") return "access_denied";
  return oauthError === "temporarily_unavailable" || oauthError === "server_error" ? "try_later" : "failed";
}
