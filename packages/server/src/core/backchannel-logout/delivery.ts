/** Delivering back-channel logouts from the outbox (OpenID Connect Back-Channel Logout 1.0 §2.4 to §2.8). */

import { randomUUID } from "node:crypto";
import { signJws } from "@signet/protocol/jose/jws";
import type { Application } from "../applications/application.ts";
import type { ApplicationDirectory } from "../applications/applications.ts";
import { seconds } from "../clock.ts";
import type { CoreDeps } from "../core-deps.ts";
import type { LedgerRecorder } from "../ledger/recorder.ts";
import { issuerOf } from "../organisations/organisation.ts";
import type { OrganisationDirectory } from "../organisations/organisations.ts";
import { type Outbound, OutboundFailure } from "../outbound/outbound.ts";
import { type Delivery, type DeliveryFailure, deliverDue, startOutbox } from "../outbox/outbox.ts";
import type { SigningKeys } from "../signing-keys/signing-keys.ts";
import { type LogoutDelivery, logoutDeliveries, logoutDelivery } from "./backchannel-logout.store.ts";

export interface LogoutDeliveryDeps extends CoreDeps {
  readonly baseUrl: string;
  readonly organisations: OrganisationDirectory;
  readonly applications: ApplicationDirectory;
  readonly keys: SigningKeys;
  readonly ledger: LedgerRecorder;
  readonly outbound: Outbound;
}

/** Delays between attempts; after the last one the delivery has failed. */
const DELAYS_MS = [5_000, 30_000, 120_000, 600_000, 3_600_000];
/** Well over the 5 s that a call may take. */
const CLAIM_MS = 15_000;
/** On one node: an application that hangs holds 4 of them, an organisation that hangs 12, each for 5 s. */
const LIMITS = { all: 256, organisation: 12, queue: 4 };
const EVERY_MS = 1_000;

/** One round. @returns how many logouts were due */
export const deliverDueLogouts = (deps: LogoutDeliveryDeps): Promise<number> =>
  deliverDue(deps, backchannelLogouts(deps));

/** @returns a function that stops it and waits for the calls under way */
export function startLogoutDelivery(
  deps: LogoutDeliveryDeps & { onError(error: unknown): void },
): () => Promise<void> {
  return startOutbox(deps, backchannelLogouts(deps), { everyMs: EVERY_MS }).stop;
}

function backchannelLogouts(deps: LogoutDeliveryDeps): Delivery<LogoutDelivery, "logout_delivery"> {
  return {
    table: logoutDeliveries,
    claimMs: CLAIM_MS,
    limits: LIMITS,
    fromRow: logoutDelivery,
    attempt: (delivery) => attempt(deps, delivery),
    retryMs: (attempts) => DELAYS_MS[attempts - 1],
    failureEvent: ({ applicationId, sessionId }) => ({
      action: "backchannel-logout.failed",
      target: applicationId,
      details: { sessionId },
    }),
  };
}

async function attempt(
  deps: LogoutDeliveryDeps,
  delivery: LogoutDelivery,
): Promise<DeliveryFailure | undefined> {
  const { orgId, applicationId, attempts } = delivery;
  if (attempts > DELAYS_MS.length + 1) return { message: "the last attempt was interrupted", isFinal: true };
  const organisation = await deps.organisations.find(orgId);
  const application = organisation && (await deps.applications.find(orgId, applicationId));
  const uri = application?.settings.backchannelLogoutUri;
  if (!application || uri === undefined)
    return { message: "the application no longer receives logouts", isFinal: true };
  const token = await logoutToken(deps, application, delivery);
  try {
    const { status } = await deps.outbound.call(orgId, uri, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ logout_token: token }).toString(),
    });
    // §2.8 asks for 200; some frameworks can only respond with 204.
    return status === 200 || status === 204
      ? undefined
      : { message: `the application responded with ${status}` };
  } catch (error) {
    if (error instanceof OutboundFailure) return error;
    throw error;
  }
}

const LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout";
/** §2.4: at most two minutes, so that an intercepted token soon expires. */
const LIFETIME_SECONDS = 120;

/**
 * A new logout token (§2.4) for each attempt: a receiver that remembers the `jti` would take a repeat for a replay. Signed
 * with the algorithm of the application's ID tokens (§2.6), also when a pool signs those.
 */
async function logoutToken(
  deps: LogoutDeliveryDeps,
  { id, orgId, settings }: Application,
  { userId, sessionId }: LogoutDelivery,
): Promise<string> {
  const { alg, kid, privateKey } = await deps.keys.signer(orgId, settings.idTokenSignedResponseAlg);
  const iat = seconds(deps.clock());
  const payload = {
    iss: issuerOf(deps.baseUrl, orgId),
    aud: id,
    iat,
    exp: iat + LIFETIME_SECONDS,
    jti: randomUUID(),
    sub: userId,
    sid: sessionId,
    // Exactly one member with an empty object. There is never a nonce: it would make the token look like an ID token.
    events: { [LOGOUT_EVENT]: {} },
  };
  const jws = await signJws({ alg, kid, privateKey, typ: "logout+jwt", payload });
  await deps.ledger.record(orgId, [{ kind: "logout_token", kid, jws }]);
  return jws;
}
