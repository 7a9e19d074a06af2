/** What the service's answer makes: the key that the browser brings, once the service has said whose it is. */
import { SignetError } from "../errors.ts";
import { oauthErrorName } from "../provider/http.ts";
import type { AnswerParameter } from "../sign-in/mechanism.ts";
import { checkedSession } from "./check-session-key.ts";
import type { FederationContext } from "./federation-context.ts";
import type { LegacySession } from "./legacy-session.ts";

export async function finishLogin(
  context: FederationContext,
  parameter: AnswerParameter,
): Promise<LegacySession> {
  return checkedSession(context, keyOf(parameter));
}

/** @throws SignetError */
function keyOf(parameter: AnswerParameter): string {
  const error = parameter("error");
  if (error !== undefined)
    throw new SignetError("provider_refused", "The service did not sign the user in.", {
      oauthError: oauthErrorName(error),
    });
  const key = parameter("service_key");
  if (key === undefined || !/^[\x21-\x7e]{1,200}$/.test(key))
    throw new SignetError("provider_answer", "The answer has no session key.");
  return key;
}
