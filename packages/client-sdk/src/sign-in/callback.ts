/** The callback: the provider's response becomes a session if it matches a sign-in of this very browser. */
import { SignetError } from "../errors.ts";
import type { FilterResult } from "../filter.ts";
import { readSession } from "./current-session.ts";
import type { LoginAttempt } from "./login-attempts.ts";
import { failure, redirect, respond } from "./responses.ts";
import type { CallbackParameter, SignIn } from "./sign-in.ts";

export async function finishLogin<Session>(signIn: SignIn<Session>, request: Request): Promise<FilterResult> {
  let attempt: LoginAttempt | undefined;
  try {
    const parameter = await callbackParameters(signIn, request);
    const state = parameter("state");
    attempt = state === undefined ? undefined : await signIn.attempts.find(request, state);
    if (!attempt) return await redirectIfSignedIn(signIn, request);
    const session = await signIn.finishLogin(attempt, parameter);
    if (await signIn.hasEnded(session)) throw unknownAttempt(request);
    await endPreviousUser(signIn, request, session);
    const cookies = [
      ...signIn.attempts.delete(request, attempt.state),
      ...(await signIn.session.write(session, request)),
    ];
    return respond(redirect(attempt.returnTo, cookies));
  } catch (error) {
    if (!(error instanceof SignetError)) throw error;
    const cookies = attempt ? signIn.attempts.delete(request, attempt.state) : [];
    const returnTo = attempt?.returnTo.slice(signIn.origin.length);
    return failure(signIn, request, error, { returnTo, cookies });
  }
}

/**
 * Those of the response: in the query, or in the JWT that it has for them.
 * @throws SignetError `provider_answer`, and as `openResponse`
 */
export async function callbackParameters<Session>(
  { openResponse }: Pick<SignIn<Session>, "openResponse">,
  request: Request,
): Promise<CallbackParameter> {
  const query = queryParameters(request);
  return openResponse ? openResponse(query) : query;
}

/** Parameters must not repeat (RFC 6749 §3.1): another reader might pick the other one. */
function queryParameters(request: Request): CallbackParameter {
  const query = [...new URL(request.url).searchParams];
  const parameters = new Map(query);
  if (query.length > parameters.size)
    throw new SignetError("provider_answer", "The response contains a parameter twice.");
  return (name) => parameters.get(name) || undefined;
}

function unknownAttempt(request: Request): SignetError {
  const description = "The response belongs to no sign-in of this browser.";
  const advice = request.headers.has("cookie")
    ? "It has expired, was used before, or instances have different cookieSecrets (SIGNET_COOKIE_SECRETS)."
    : "The browser sent no cookie at all: check that baseUrl (SIGNET_BASE_URL) is the address that people open, and that no " +
      "proxy in front removes Cookie and Set-Cookie headers.";
  return new SignetError("login_state", `${description} ${advice}`, { description });
}

/** A signed-in user who went back to the callback in the browser's history. */
async function redirectIfSignedIn<Session>(signIn: SignIn<Session>, request: Request): Promise<FilterResult> {
  const session = await readSession(signIn, request);
  if (!session || (await signIn.hasEnded(session))) throw unknownAttempt(request);
  return respond(redirect(`${signIn.origin}/`));
}

/** A pending check of another user's session would overwrite the new one. Several tabs of the same user may coexist. */
async function endPreviousUser<Session>(
  signIn: SignIn<Session>,
  request: Request,
  session: Session,
): Promise<void> {
  const previous = await readSession(signIn, request);
  if (!previous) return;
  const [before, now] = [signIn.principalOf(previous), signIn.principalOf(session)];
  if (before.subject === now.subject && before.organisationId === now.organisationId) return;
  await signIn.rememberEnd(previous).catch(signIn.onError);
}
