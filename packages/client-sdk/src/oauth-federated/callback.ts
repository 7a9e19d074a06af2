/** What the provider's answer makes: tokens for its code, verified, and the session of them (RFC 6749 §4.1.2 and §4.1.3). */
import { SignetError } from "../errors.ts";
import { oauthErrorName } from "../provider/http.ts";
import type { LoginAttempt } from "../sign-in/login-attempts.ts";
import type { AnswerParameter } from "../sign-in/mechanism.ts";
import { sha256Text } from "../sign-in/random-text.ts";
import { callbackAddressOf } from "../sign-in/sign-in-context.ts";
import { verifyIdToken } from "../tokens/id-token.ts";
import type { FederatedContext } from "./federated-context.ts";
import { type FederatedSession, newSession } from "./federated-session.ts";
import { requestTokens } from "./token-endpoint.ts";
import { fetchUserinfo } from "./userinfo.ts";

export async function finishLogin(
  context: FederatedContext,
  attempt: LoginAttempt,
  parameter: AnswerParameter,
): Promise<FederatedSession> {
  await checkIssuer(context, parameter("iss"));
  return signIn(context, attempt, codeOf(parameter("code"), parameter("error")));
}

/** RFC 9207 §2.4: an answer of another provider, which was made to look like ours, would carry our code there. */
async function checkIssuer({ provider, issuer }: FederatedContext, iss: string | undefined): Promise<void> {
  const { authorization_response_iss_parameter_supported: isAnnounced } = await provider.metadata();
  if (iss === undefined ? isAnnounced : iss !== issuer)
    throw new SignetError("provider_answer", "The answer does not name the provider that was asked.");
}

/** What the provider says about an error is for the log: whoever shows it would show texts that others write. */
function codeOf(code: string | undefined, error: string | undefined): string {
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
    redirect_uri: callbackAddressOf(context),
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
