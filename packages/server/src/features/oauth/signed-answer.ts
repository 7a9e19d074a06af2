/**
 * An answer as a JWT that the organisation signs: introspection (RFC 9701), userinfo (OpenID Connect Core §5.3.2). For an application of
 * a signing pool its agents sign it; without one the answer is 503, and may be asked for again.
 */
import { type SigningAlg, signJws } from "@signet/protocol/jose/jws";
import type { Application } from "../../core/applications/application.ts";
import type { Clock } from "../../core/clock.ts";
import { seconds } from "../../core/clock.ts";
import type { SigningKeys } from "../../core/signing-keys/signing-keys.ts";
import { type ApplicationIssuerDeps, applicationIssuer } from "../../core/signing-pools/directory.ts";
import type { PoolSigning } from "../../core/tokens/pool-signing.ts";
import { type MessageToSign, messageTypes } from "../../core/tokens/signed-message.ts";
import type { Answer, Call } from "../../http/calls/call.ts";
import { addressOf } from "../../http/listeners/client-address.ts";

export interface SignedAnswerDeps extends ApplicationIssuerDeps {
  readonly clock: Clock;
  readonly keys: Pick<SigningKeys, "signer">;
  readonly poolSigning: Pick<PoolSigning, "signMessage">;
}

export interface SignedAnswer {
  readonly use: "introspection_response" | "userinfo_response";
  /** Whom it is for. */
  readonly application: Application;
  /** Of local keys. */
  readonly alg: SigningAlg;
  readonly mediaType: string;
  readonly claims: Readonly<Record<string, unknown>>;
  /** The user that it is of. */
  readonly userId: string | null;
  /** See MessageContext. */
  readonly requestSigned?: boolean | null;
}

/**
 * Answers are not in the ledger: they give nobody access, and the hash of one with few claims could be guessed.
 * @throws OAuthError when no agent signs
 */
export async function signedAnswer(
  deps: SignedAnswerDeps,
  call: Call,
  { use, application, alg, mediaType, claims, userId, requestSigned }: SignedAnswer,
): Promise<Answer> {
  const iss = await applicationIssuer(deps, application);
  const message: MessageToSign = { use, claims: { ...claims, iss, aud: application.id } };
  const grantType = use === "introspection_response" ? "introspection" : "userinfo";
  const body =
    application.settings.signingPoolId === undefined
      ? await signedByLocalKey(deps, application.orgId, alg, message)
      : (
          await deps.poolSigning.signMessage(message, {
            ...{ application, address: addressOf(call), grantType, userId, requestSigned },
          })
        ).jws;
  return {
    status: 200,
    headers: ["Content-Type", mediaType, "Cache-Control", "no-store", "Pragma", "no-cache"],
    body,
  };
}

async function signedByLocalKey(
  { keys, clock }: SignedAnswerDeps,
  orgId: string,
  wanted: SigningAlg,
  { use, claims }: MessageToSign,
): Promise<string> {
  const { alg, kid, privateKey } = await keys.signer(orgId, wanted);
  const payload = { ...claims, iat: seconds(clock()) };
  return signJws({ alg, kid, privateKey, typ: messageTypes[use], payload });
}
