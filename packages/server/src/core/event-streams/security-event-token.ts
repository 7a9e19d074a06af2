/** A security event token (RFC 8417), as SSF 1.0 §4.1 wants it: explicit type, no `sub`, no `exp`, one event. */
import { signJws } from "@signet/protocol/jose/jws";
import type { Clock } from "../clock.ts";
import { seconds } from "../clock.ts";
import type { LedgerRecorder } from "../ledger/recorder.ts";
import { issuerOf } from "../organisations/organisation.ts";
import type { SigningKeys } from "../signing-keys/signing-keys.ts";

export interface TokenDeps {
  readonly baseUrl: string;
  readonly clock: Clock;
  readonly keys: Pick<SigningKeys, "signer">;
  readonly ledger: LedgerRecorder;
}

/** What is stored of an event until it is sent. */
export interface UnsignedEvent {
  readonly sub_id: Readonly<Record<string, unknown>>;
  readonly events: Readonly<Record<string, unknown>>;
}

/**
 * The organisation's own RS256 key signs, whatever signs its applications' tokens: it is the transmitter that speaks.
 * @param token.id of the event: a token that is sent again has the same `jti`
 */
export async function securityEventToken(
  { baseUrl, clock, keys, ledger }: TokenDeps,
  token: { readonly orgId: string; readonly audience: string; readonly id: string; readonly body: string },
): Promise<string> {
  const { orgId, audience, id, body } = token;
  const { alg, kid, privateKey } = await keys.signer(orgId, "RS256");
  const { sub_id, events } = JSON.parse(body) as UnsignedEvent;
  const iss = issuerOf(baseUrl, orgId);
  const payload = { iss, jti: id, iat: seconds(clock()), aud: audience, sub_id, events };
  const jws = await signJws({ alg, kid, privateKey, typ: "secevent+jwt", payload });
  await ledger.record(orgId, [{ kind: "security_event_token", kid, jws }]);
  return jws;
}
