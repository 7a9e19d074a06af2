/** The code flow with PKCE (RFC 6749 §4.1, RFC 7636), bound to the browser's key (RFC 9449 §10). */
import { random, sha256 } from "./base64url.ts";
import type { ClientContext } from "./client-context.ts";
import type { DpopKey } from "./dpop.ts";
import { SignetClientError } from "./errors.ts";
import { fetchWithProof, type Metadata, requestTokens } from "./issuer.ts";
import { checkIdToken, type Session, sessionOf } from "./session.ts";

/** What of a sign-in can be chosen. */
export interface SignInOptions {
  /** A path of the application. Default: the current page. */
  readonly returnTo?: string;
  readonly prompt?: "login" | "select_account" | "consent";
  readonly loginHint?: string;
}

interface Attempt {
  readonly verifier: string;
  readonly nonce: string;
  readonly returnTo: string;
}

/** In this tab alone: several can sign in at once. */
const attemptKey = (state: string): string => `signet-attempt ${state}`;

const redirectUri = ({ options, window }: ClientContext): string =>
  options.redirectUri ?? `${window().location.origin}/`;

export async function startSignIn(context: ClientContext, asked: SignInOptions): Promise<void> {
  const { options } = context;
  const { location, sessionStorage } = context.window();
  const metadata = await context.metadata();
  const key = await context.key();
  const [state, nonce, verifier] = [random(), random(), random()];
  const returnTo = new URL(asked.returnTo ?? location.href, location.origin);
  const isOwn = returnTo.origin === location.origin;
  const attempt: Attempt = { verifier, nonce, returnTo: isOwn ? returnTo.href : `${location.origin}/` };
  sessionStorage.setItem(attemptKey(state), JSON.stringify(attempt));
  const parameters = {
    response_type: "code",
    client_id: options.clientId,
    redirect_uri: redirectUri(context),
    scope: options.scope ?? "openid profile email",
    ...{ state, nonce, code_challenge: await sha256(verifier), code_challenge_method: "S256" },
    ...(options.resource === undefined ? {} : { resource: options.resource }),
    ...(asked.prompt === undefined ? {} : { prompt: asked.prompt }),
    ...(asked.loginHint === undefined ? {} : { login_hint: asked.loginHint }),
    ...(key === undefined ? {} : { dpop_jkt: key.thumbprint }),
  };
  location.assign(withParameters(metadata.authorization_endpoint, parameters));
}

export function withParameters(endpoint: string, parameters: Readonly<Record<string, string>>): string {
  const url = new URL(endpoint);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

/** Whether the address is the response to a sign-in of this tab. @returns its session; undefined: it is none */
export async function finishSignIn(context: ClientContext): Promise<Session | undefined> {
  const { location, sessionStorage, history } = context.window();
  const { searchParams } = new URL(location.href);
  const [state, code, error] = ["state", "code", "error"].map((name) => searchParams.get(name));
  if (!state || !(code || error)) return undefined;
  const kept = sessionStorage.getItem(attemptKey(state));
  if (kept === null) return undefined;
  // One response for each attempt.
  sessionStorage.removeItem(attemptKey(state));
  const attempt = JSON.parse(kept) as Attempt;
  // The code must not stay in the address, nor in the history.
  history.replaceState(null, "", attempt.returnTo);
  const metadata = await context.metadata();
  checkIssuer(metadata, searchParams.get("iss"));
  if (error) throw notSignedIn(error);
  return redeem(context, metadata, { code: code ?? "", attempt });
}

/** RFC 9207 §2.4: the response of another provider would take the code there. */
function checkIssuer(metadata: Metadata, iss: string | null): void {
  const isRequired = metadata.authorization_response_iss_parameter_supported === true;
  if (iss === null ? isRequired : iss !== metadata.issuer)
    throw new SignetClientError("answer", "The response names another issuer, or none.");
}

function notSignedIn(error: string): SignetClientError {
  const name = /^[\w.-]{1,100}$/.test(error) ? error : "invalid";
  const advice = name === "invalid_scope" ? " Check the property scope." : "";
  return new SignetClientError("refused", `The issuer did not sign the user in: ${name}.${advice}`, name);
}

interface Redeemed {
  readonly code: string;
  readonly attempt: Attempt;
}

async function redeem(
  context: ClientContext,
  metadata: Metadata,
  { code, attempt }: Redeemed,
): Promise<Session> {
  const { clientId } = context.options;
  const key = await context.key();
  const form = {
    grant_type: "authorization_code",
    client_id: clientId,
    redirect_uri: redirectUri(context),
    code_verifier: attempt.verifier,
    code,
  };
  const session = sessionOf(await requestTokens(metadata, form, key));
  checkIdToken(session.idToken, { issuer: metadata.issuer, clientId, nonce: attempt.nonce });
  return withUserinfo(metadata, session, key);
}

/** Claims of userinfo beside those of the ID token, which win. A user without it is signed in all the same. */
export async function withUserinfo(
  metadata: Metadata,
  session: Session,
  key: DpopKey | undefined,
): Promise<Session> {
  const response = await askUserinfo(metadata, session, key);
  const found = response.ok ? ((await response.json()) as Record<string, unknown>) : {};
  // §5.3.2: userinfo of another user says nothing about this one.
  if (found["sub"] !== session.claims["sub"]) return session;
  return { ...session, claims: { ...found, ...session.claims } };
}

export const askUserinfo = (
  metadata: Metadata,
  session: Session,
  key: DpopKey | undefined,
): Promise<Response> => {
  const possession = { key: isBound(session) ? key : undefined, accessToken: session.accessToken };
  return fetchWithProof(metadata.userinfo_endpoint, {}, possession);
};

/** RFC 9449 §5: what the token endpoint says decides how a token is used. */
export const isBound = ({ tokenType }: Session): boolean => tokenType.toLowerCase() === "dpop";
