/** The way back: the provider's answer becomes a session, once every part of it fits the attempt of this very browser. */
import { decodeJwt } from "jose";
import { SignetError } from "../errors.ts";
import type { FilterResult } from "../filter.ts";
import { oauthErrorName } from "../provider/http.ts";
import { verifyIdToken } from "../tokens/id-token.ts";
import { answered, redirect, refusal } from "./answers.ts";
import { isOver, rememberEnd } from "./current-session.ts";
import { type FederatedContext, redirectUriOf } from "./federated-context.ts";
import { type FederatedSession, newSession, sessionOf } from "./federated-session.ts";
import type { LoginAttempt } from "./login-attempts.ts";
import { sha256Text } from "./random-text.ts";
import { requestTokens } from "./token-endpoint.ts";
import { fetchUserinfo } from "./userinfo.ts";

/** The parameters of an answer (RFC 6749 §4.1.2, RFC 9207 §2); each at most once (RFC 6749 §3.1). */
interface Answer {
  readonly state: string | undefined;
  readonly code: string | undefined;
  readonly error: string | undefined;
  readonly iss: string | undefined;
}

export async function finishLogin(context: FederatedContext, request: Request): Promise<FilterResult> {
  let attempt: LoginAttempt | undefined;
  try {
    const answer = answerOf(new URL(request.url).searchParams);
    attempt = answer.state === undefined ? undefined : await context.attempts.find(request, answer.state);
    if (!attempt) return await withoutAttempt(context, request);
    await checkIssuer(context, answer);
    const session = await signIn(context, attempt, codeOf(answer));
    if (await isOver(context, session)) throw unknownAttempt();
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

function answerOf(parameters: URLSearchParams): Answer {
  const single = (name: keyof Answer): string | undefined => {
    const [value, ...more] = parameters.getAll(name);
    if (more.length > 0) throw new SignetError("provider_answer", `The answer has ${name} twice.`);
    return value === "" ? undefined : value;
  };
  return { state: single("state"), code: single("code"), error: single("error"), iss: single("iss") };
}

const unknownAttempt = () =>
  new SignetError("login_state", "The answer belongs to no sign-in that this browser has begun.");

/** Somebody who is signed in went back to the answer in the browser's history: nothing is wrong. */
async function withoutAttempt(context: FederatedContext, request: Request): Promise<FilterResult> {
  const session = sessionOf(await context.session.read(request), context.party);
  if (!session || (await isOver(context, session))) throw unknownAttempt();
  return answered(redirect(`${context.origin}/`));
}

/**
 * Another person signs in where somebody still was: that session ends, or a refresh of it that is under way would put it back in
 * place of the new one. One of the same person stays, as several tabs may come back from signing in at once.
 */
async function endOther(
  context: FederatedContext,
  request: Request,
  session: FederatedSession,
): Promise<void> {
  const before = sessionOf(await context.session.read(request), context.party);
  if (!before || decodeJwt(before.idToken).sub === decodeJwt(session.idToken).sub) return;
  await rememberEnd(context, before).catch(context.onError);
}

/** RFC 9207 §2.4: an answer of another provider, which was made to look like ours, would carry our code there. */
async function checkIssuer({ provider, issuer }: FederatedContext, { iss }: Answer): Promise<void> {
  const { authorization_response_iss_parameter_supported: isAnnounced } = await provider.metadata();
  if (iss === undefined ? isAnnounced : iss !== issuer)
    throw new SignetError("provider_answer", "The answer does not name the provider that was asked.");
}

/** What the provider says about an error is for the log: whoever shows it would show texts that others write. */
function codeOf({ code, error }: Answer): string {
  if (error !== undefined)
    throw new SignetError("provider_refused", "The provider did not sign the user in.", {
      oauthError: oauthErrorName(error),
    });
  if (code === undefined) throw new SignetError("provider_answer", "The answer has no code.");
  return code;
}

/** A code works once. When the page is loaded again meanwhile, both requests are the same sign-in. */
async function signIn(
  context: FederatedContext,
  attempt: LoginAttempt,
  code: string,
): Promise<FederatedSession> {
  return context.logins.run(await sha256Text(`${attempt.state} ${code}`), () =>
    redeem(context, attempt, code),
  );
}

async function redeem(
  context: FederatedContext,
  attempt: LoginAttempt,
  code: string,
): Promise<FederatedSession> {
  const { issuer, clientId, keys, clock, maxAgeSeconds, party, scope } = context;
  const answer = await requestTokens(context, {
    grant_type: "authorization_code",
    code,
    redirect_uri: redirectUriOf(context),
    code_verifier: attempt.verifier,
  });
  const { accessToken, idToken } = answer;
  if (idToken === undefined) throw new SignetError("provider_answer", "The provider gave no ID token.");
  const checks = { keys, issuer, clientId, nonce: attempt.nonce, accessToken, maxAgeSeconds, clock };
  const claims = await verifyIdToken(idToken, checks);
  const userinfo = await fetchUserinfo(context, accessToken, claims.sub);
  const session = newSession({ party, idToken, claims, userinfo, answer, scope }, clock());
  // Sent back with it, the browser would be sent to sign in again, and so on without end.
  if (session.refreshToken === undefined && session.endsAt <= clock())
    throw new SignetError("provider_answer", "The provider's tokens end at once.");
  return session;
}
