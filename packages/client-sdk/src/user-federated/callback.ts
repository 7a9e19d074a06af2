/** The way back: the key that the browser brings becomes a session, once the service has said whose it is. */
import { SignetError } from "../errors.ts";
import type { FilterResult } from "../filter.ts";
import { answered, redirect, refusal } from "../oauth-federated/answers.ts";
import type { LoginAttempt } from "../oauth-federated/login-attempts.ts";
import { oauthErrorName } from "../provider/http.ts";
import { checkedSession } from "./check-session-key.ts";
import { isSignedOut, rememberEnd } from "./current-session.ts";
import type { FederationContext } from "./federation-context.ts";
import { type LegacySession, sessionOf } from "./legacy-session.ts";

export async function finishLogin(context: FederationContext, request: Request): Promise<FilterResult> {
  let attempt: LoginAttempt | undefined;
  try {
    const parameters = new URL(request.url).searchParams;
    const state = single(parameters, "state");
    attempt = state === undefined ? undefined : await context.attempts.find(request, state);
    if (!attempt) return await withoutAttempt(context, request);
    const session = await checkedSession(context, keyOf(parameters));
    if (await isSignedOut(context, session)) throw unknownAttempt();
    await endOther(context, request, session);
    const cookies = [
      ...context.attempts.drop(request, attempt.state),
      ...(await context.session.write(session, request)),
    ];
    return answered(redirect(attempt.returnTo, cookies));
  } catch (error) {
    if (!(error instanceof SignetError)) throw error;
    const cookies = attempt ? context.attempts.drop(request, attempt.state) : [];
    const returnTo = attempt?.returnTo.slice(context.origin.length);
    return refusal(context, request, error, { returnTo, cookies });
  }
}

/** Another person signs in where somebody still was: a check of that session which is under way must not put it back. */
async function endOther(context: FederationContext, request: Request, session: LegacySession): Promise<void> {
  const before = sessionOf(await context.session.read(request), context.party);
  if (!before || before.user.PermId === session.user.PermId) return;
  await rememberEnd(context, before).catch(context.onError);
}

function single(parameters: URLSearchParams, name: string): string | undefined {
  const [value, ...more] = parameters.getAll(name);
  if (more.length > 0) throw new SignetError("provider_answer", `The answer has ${name} twice.`);
  return value === "" ? undefined : value;
}

/** @throws SignetError */
function keyOf(parameters: URLSearchParams): string {
  const error = single(parameters, "error");
  if (error !== undefined)
    throw new SignetError("provider_refused", "The service did not sign the user in.", {
      oauthError: oauthErrorName(error),
    });
  const key = single(parameters, "service_key");
  if (key === undefined || !/^[\x21-\x7e]{1,200}$/.test(key))
    throw new SignetError("provider_answer", "The answer has no session key.");
  return key;
}

const unknownAttempt = () =>
  new SignetError("login_state", "The answer belongs to no sign-in that this browser has begun.");

/** Somebody who is signed in went back to the answer in the browser's history: nothing is wrong. */
async function withoutAttempt(context: FederationContext, request: Request): Promise<FilterResult> {
  const session = sessionOf(await context.session.read(request), context.party);
  if (!session || (await isSignedOut(context, session))) throw unknownAttempt();
  return answered(redirect(`${context.origin}/`));
}
