/** The way back: an answer becomes a session, once every part of it fits the attempt of this very browser. */
import { SignetError } from "../errors.ts";
import type { FilterResult } from "../filter.ts";
import { answered, redirect, refusal } from "./answers.ts";
import type { LoginAttempt } from "./login-attempts.ts";
import type { AnswerParameter, SignInMechanism } from "./mechanism.ts";
import type { SignInContext } from "./sign-in-context.ts";

export async function finishLogin<Session>(
  context: SignInContext,
  mechanism: SignInMechanism<Session>,
  request: Request,
): Promise<FilterResult> {
  let attempt: LoginAttempt | undefined;
  try {
    const parameter = parametersOf(new URL(request.url).searchParams);
    const state = parameter("state");
    attempt = state === undefined ? undefined : await context.attempts.find(request, state);
    if (!attempt) return await withoutAttempt(context, mechanism, request);
    const session = await mechanism.finishLogin(attempt, parameter);
    if (await mechanism.isOver(session)) throw unknownAttempt();
    await endOther(context, mechanism, request, session);
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

/** Each at most once (RFC 6749 §3.1): of two, another reader of the answer might go by the other. */
function parametersOf(query: URLSearchParams): AnswerParameter {
  const parameters = new Map(query);
  const twice = [...query.keys()].length > parameters.size;
  if (twice) throw new SignetError("provider_answer", "The answer has a parameter twice.");
  return (name) => parameters.get(name) || undefined;
}

const unknownAttempt = () =>
  new SignetError("login_state", "The answer belongs to no sign-in that this browser has begun.");

/** Somebody who is signed in went back to the answer in the browser's history: nothing is wrong. */
async function withoutAttempt<Session>(
  context: SignInContext,
  mechanism: SignInMechanism<Session>,
  request: Request,
): Promise<FilterResult> {
  const session = mechanism.sessionOf(await context.session.read(request));
  if (!session || (await mechanism.isOver(session))) throw unknownAttempt();
  return answered(redirect(`${context.origin}/`));
}

/**
 * Another person signs in where somebody still was: that session ends, or a look at it that is under way would put it back in
 * place of the new one. One of the same person stays, as several tabs may come back from signing in at once.
 */
async function endOther<Session>(
  context: SignInContext,
  mechanism: SignInMechanism<Session>,
  request: Request,
  session: Session,
): Promise<void> {
  const before = mechanism.sessionOf(await context.session.read(request));
  if (!before || mechanism.isSamePerson(before, session)) return;
  await mechanism.rememberEnd(before).catch(context.onError);
}
