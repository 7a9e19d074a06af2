/** The provider tells that a session has ended (OpenID Connect Back-Channel Logout 1.0 §2.5 to §2.8). No browser is involved. */
import { SignetError } from "../errors.ts";
import type { FilterResult } from "../filter.ts";
import { answered, json } from "../sign-in/answers.ts";
import { providerSessionKey, subjectKey } from "../sign-in/logout-memory.ts";
import { SESSION_SECONDS } from "../sign-in/sign-in-context.ts";
import { verifyLogoutToken } from "../tokens/logout-token.ts";
import type { FederatedContext } from "./federated-context.ts";

/** A logout token is about one kilobyte. */
const MOST_BYTES = 64 * 1024;

export async function backChannelLogout(context: FederatedContext, request: Request): Promise<FilterResult> {
  const { keys, issuer, clientId, clock } = context;
  try {
    const token = await logoutTokenOf(request);
    const { sid, sub, iat } = await verifyLogoutToken(token, { keys, issuer, clientId, clock });
    // §2.7: the one session, where it is named, else all of the user. `iat` lets a message that comes twice or late end
    // nothing that began after it.
    if (sid !== undefined) await remember(context, providerSessionKey(issuer, sid), iat);
    else if (sub !== undefined) await remember(context, subjectKey(issuer, sub), iat);
    return answered(new Response(null, { status: 200, headers: { "cache-control": "no-store" } }));
  } catch (error) {
    if (!(error instanceof SignetError)) throw error;
    // Only what may work later is 503: the provider tries again.
    const status = error.code === "provider_unreachable" ? 503 : 400;
    const body = { error: "invalid_request", error_description: error.message };
    return answered(json(status, body), error);
  }
}

async function remember({ memory }: FederatedContext, key: string, endedAt: number): Promise<void> {
  try {
    await memory.remember(key, endedAt, SESSION_SECONDS);
  } catch (cause) {
    throw new SignetError("provider_unreachable", "The end of the session could not be remembered.", {
      cause,
    });
  }
}

async function logoutTokenOf(request: Request): Promise<string> {
  const type = request.headers.get("content-type") ?? "";
  if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(type))
    throw malformed("The body is not a form.");
  const [token, ...more] = new URLSearchParams(await textOf(request)).getAll("logout_token");
  if (token === undefined || more.length > 0) throw malformed("The form needs one logout_token.");
  return token;
}

const malformed = (message: string) => new SignetError("request_malformed", message);

/** @throws SignetError: a caller that goes away is no fault of the program */
function brokenOff(cause: unknown): never {
  throw new SignetError("request_malformed", "The body was broken off.", { cause });
}

async function textOf(request: Request): Promise<string> {
  const reader = request.body?.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let length = 0;
  while (reader) {
    const { done, value } = await reader.read().catch(brokenOff);
    if (done) break;
    length += value.length;
    if (length > MOST_BYTES) {
      await reader.cancel();
      throw malformed("The body is too long.");
    }
    text += decoder.decode(value, { stream: true });
  }
  return text;
}
