/** The answers that the filters give themselves. */
import { cacheControlWithCookies } from "../cookies/cookie-header.ts";
import type { SignetError } from "../errors.ts";
import type { FilterResult } from "../filter.ts";
import type { FrontPage } from "./front-page.ts";
import { type RequestKind, requestKind } from "./request-kind.ts";
import { loginAddressOf, type SignInContext } from "./sign-in-context.ts";

export const answered = (response: Response, error?: Error): FilterResult =>
  error === undefined ? { kind: "answer", response } : { kind: "answer", response, error };

export function withCookies(response: Response, cookies: readonly string[]): Response {
  const { headers } = response;
  if (cookies.length > 0) headers.set("cache-control", cacheControlWithCookies(headers.get("cache-control")));
  for (const cookie of cookies) headers.append("set-cookie", cookie);
  return response;
}

/** @param address absolute, and ours or the provider's */
export function redirect(
  address: string,
  cookies: readonly string[] = [],
  status: 302 | 303 = 302,
): Response {
  const headers = {
    location: address,
    "cache-control": "no-store",
    // The address of the page may hold an authorization code, or what else is nobody's business at the next place.
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

/** 401 for what cannot be sent to sign in; `login_url` is where a script sends its page. */
export function unauthorized(
  context: Pick<SignInContext, "origin" | "basePath">,
  cookies: readonly string[],
): Response {
  const body = {
    error: "login_required",
    error_description: "Sign in first.",
    login_url: loginAddressOf(context, undefined),
  };
  // RFC 9110 §11.6.1 wants a challenge with every 401; browsers show no dialogue for a scheme that they do not know.
  const challenge = { "www-authenticate": `Signet login="${body.login_url}"` };
  return withCookies(json(401, body, challenge), cookies);
}

const pages: Readonly<Record<FrontPage["kind"], Omit<FrontPage, "kind" | "action">>> = {
  access_denied: {
    status: 403,
    title: "Sign-in was refused",
    text: "You are not signed in here: access was not granted. You can try again, or close this page.",
  },
  sign_in_again: {
    status: 400,
    title: "This sign-in is no longer valid",
    text: "It was begun too long ago, in another browser, or it has been used already. Please start again.",
  },
  not_saved: {
    status: 401,
    title: "You are signed out",
    text: "What you sent was not saved. Sign in, then send it again.",
  },
  signed_out: { status: 401, title: "You are signed out", text: "Sign in to see this page." },
  confirm_logout: { status: 200, title: "Sign out?", text: "You will be signed out of this application." },
  try_later: {
    status: 503,
    title: "Sign-in is not possible right now",
    text: "The sign-in service does not answer. Please try again in a moment.",
  },
  failed: {
    status: 502,
    title: "Sign-in failed",
    text: "The sign-in could not be completed safely. Please try again; if it fails again, tell whoever runs this application.",
  },
};

export function frontPage(kind: FrontPage["kind"], action: FrontPage["action"], status?: number): FrontPage {
  const page = pages[kind];
  return { kind, ...page, ...(status === undefined ? {} : { status }), ...(action ? { action } : {}) };
}

const RETRY_SECONDS = "5";

/** What went wrong at the provider or in its answer, told in the form that the request can show. */
export async function refusal(
  context: Pick<SignInContext, "origin" | "basePath" | "showPage">,
  request: Request,
  error: SignetError,
  {
    returnTo,
    cookies = [],
  }: { readonly returnTo?: string | undefined; readonly cookies?: readonly string[] } = {},
): Promise<FilterResult> {
  const kind = pageKindOf(error);
  const retry = kind === "try_later" ? { "retry-after": RETRY_SECONDS } : {};
  if (!isPage(requestKind(request))) {
    const body = { error: error.oauthError ?? error.code, error_description: error.message };
    return answered(withCookies(json(pages[kind].status, body, retry), cookies), error);
  }
  const action = { label: "Try again", address: loginAddressOf(context, returnTo), method: "get" } as const;
  const response = await context.showPage(frontPage(kind, action), request);
  if (kind === "try_later") response.headers.set("retry-after", RETRY_SECONDS);
  return answered(withCookies(response, cookies), error);
}

const isPage = (kind: RequestKind): boolean =>
  kind === "navigation" || kind === "frame" || kind === "submission";

function pageKindOf({ code, oauthError }: SignetError): FrontPage["kind"] {
  if (code === "login_state") return "sign_in_again";
  if (code === "provider_unreachable") return "try_later";
  if (oauthError === "access_denied") return "access_denied";
  return oauthError === "temporarily_unavailable" || oauthError === "server_error" ? "try_later" : "failed";
}
