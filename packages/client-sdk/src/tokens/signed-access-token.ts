/** Whether the organisation's agents have signed an access token: only then do its scopes and claims count. */
import { SignetError } from "../errors.ts";
import { type JwtChecks, verifyJwt } from "./verify-jwt.ts";

interface AgentSignature extends Pick<JwtChecks, "keys" | "issuer" | "clock"> {
  readonly clientId: string;
  /** The organisation's agents sign the tokens. */
  readonly isSovereign: boolean;
  readonly onError: (error: SignetError) => void;
}

/**
 * The token is for an API, so its audience is not ours; that it was issued to this application for this user is checked.
 * @returns false without signing agents, whose keys alone are worth more than the provider's word
 * @throws SignetError `provider_unreachable`, `provider_answer` if the keys can't be fetched
 */
export async function isSignedAccessToken(
  context: AgentSignature,
  accessToken: string,
  sub: string,
): Promise<boolean> {
  const { isSovereign, keys, issuer, clientId, clock, onError } = context;
  if (!isSovereign) return false;
  try {
    const { claims } = await verifyJwt(accessToken, {
      ...{ keys, issuer, clock },
      types: ["at+jwt"],
      requiredClaims: ["iss", "sub", "client_id", "iat", "exp"],
    });
    if (claims.sub === sub && claims["client_id"] === clientId) return true;
    throw new SignetError("token_subject", "The access token is about another user or application.");
  } catch (error) {
    if (!(error instanceof SignetError) || !error.code.startsWith("token_")) throw error;
    onError(error);
    return false;
  }
}
