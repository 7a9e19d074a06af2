/**
 * Signing in with a passkey alone: the authenticator knows who it is, and that its owner was there by fingerprint, face or
 * PIN. Two factors in one, and no page but ours can ask for it.
 */

import type { AuthenticationResponseJSON } from "@simplewebauthn/server";
import { recordStrangersEvent } from "../../../../core/audit/unauthenticated-events.ts";
import { networkOf } from "../../../../core/rate-limits/network.ts";
import { countAttempt } from "../../../../core/rate-limits/rate-limits.ts";
import { acrOfMethod, passkeyAmr } from "../../../../core/second-factors/factor-proof.ts";
import { ownerOf } from "../../../../core/second-factors/factor-status.ts";
import { takeChallenge } from "../../../../core/second-factors/passkeys/challenge.ts";
import type { Passkey, PasskeyUse } from "../../../../core/second-factors/passkeys/passkey.ts";
import { findPasskey, recordPasskeyUse } from "../../../../core/second-factors/passkeys/passkeys.store.ts";
import {
  type PasskeyAnswer,
  readPasskeyAnswer,
  userOfHandle,
  verifyPasskey,
} from "../../../../core/second-factors/passkeys/passkeys.ts";
import { signInWithin } from "../../../../core/sessions/sessions.ts";
import type { User } from "../../../../core/users/user.ts";
import { findUser, holdEnabled } from "../../../../core/users/users.store.ts";
import { addressOf } from "../../../../http/listeners/client-address.ts";
import { type BrowserDeps, originOf, type Visit, whoIsThere } from "../browser.ts";
import { noticeSignIn } from "./notice-sign-in.ts";

interface Verified {
  readonly user: User;
  readonly passkey: Passkey;
  readonly use: PasskeyUse;
  readonly challenge: string;
}

/**
 * @returns why it failed; undefined when the session has started and its cookie is written
 * @throws RateLimited for an address that has failed too often
 */
export async function signInByPasskey(
  deps: BrowserDeps,
  visit: Visit,
  text: string,
  uiLocales: string | undefined,
): Promise<"invalid-passkey" | "disabled" | undefined> {
  const { organisation, request } = visit;
  // Nobody guesses a signature: what is limited is the work that strangers can cause. Counted apart from the codes, which
  // only who knows a password can use up.
  const ofAddress = {
    limit: deps.rateLimits["second-factor-address"],
    subject: `passkey|${networkOf(addressOf(request))}`,
  };
  const attempt = await countAttempt(deps, organisation.id, [ofAddress]);
  const verified = await verify(deps, visit, text);
  if (!verified) return failed(deps, visit, undefined, "invalid-passkey");
  if (verified.user.disabledAt !== null) return failed(deps, visit, verified.user, "disabled");
  const token = await start(deps, visit, verified, uiLocales);
  if (token === undefined) return failed(deps, visit, verified.user, "invalid-passkey");
  await attempt.giveBack();
  deps.activity.count(organisation.id, "sign-ins");
  deps.cookies.write(visit.reply, organisation.id, token, organisation.settings.sessionLifetimeSeconds);
  return undefined;
}

async function verify(deps: BrowserDeps, visit: Visit, text: string): Promise<Verified | undefined> {
  const { organisation, request } = visit;
  const { challenges, relyingParty } = deps.secondFactors;
  const answer = readPasskeyAnswer<AuthenticationResponseJSON>(text);
  const browser = deps.cookies.read(request, organisation.id);
  if (!answer || browser === undefined) return undefined;
  const purpose = { orgId: organisation.id, use: "sign-in", browser } as const;
  if (!challenges.isGenuine(answer.challenge, purpose, deps.clock())) return undefined;
  const found = await ownerOfAnswer(deps, organisation.id, answer);
  if (!found) return undefined;
  const use = await verifyPasskey(answer, found.passkey, { relyingParty, requireUserVerification: true });
  return use && { ...found, use, challenge: answer.challenge };
}

/** WebAuthn §7.2, step 6: the credential must belong to the user that the answer names. */
async function ownerOfAnswer(
  { database }: BrowserDeps,
  orgId: string,
  { response, userHandle }: PasskeyAnswer<AuthenticationResponseJSON>,
): Promise<{ user: User; passkey: Passkey } | undefined> {
  const userId = userOfHandle(userHandle);
  const user = userId === undefined ? undefined : await findUser(database.query, orgId, userId);
  const passkey = user && (await findPasskey(database.query, ownerOf(user), response.id));
  return user && passkey && { user, passkey };
}

/** @returns the cookie's value; undefined when challenge or counter were used before, or the account was just disabled */
async function start(
  deps: BrowserDeps,
  visit: Visit,
  { user, passkey, use, challenge }: Verified,
  uiLocales: string | undefined,
): Promise<string | undefined> {
  const { organisation } = visit;
  const now = deps.clock();
  const from = originOf(visit, uiLocales);
  const before = await whoIsThere(deps, visit);
  return deps.database.transaction(async (tx) => {
    // The account before its factors, as every change of them does it: two at once wait for each other in one direction.
    if (!(await holdEnabled(tx, user))) return undefined;
    if (!(await takeChallenge(tx, organisation.id, challenge))) return undefined;
    if (!(await recordPasskeyUse(tx, ownerOf(user), { id: passkey.id, ...use, now }))) return undefined;
    await noticeSignIn(deps, tx, visit, user, from);
    const { token } = await signInWithin(
      tx,
      {
        organisation,
        user,
        amr: passkeyAmr(use),
        acr: acrOfMethod.passkey,
        ...from,
        before,
      },
      now,
    );
    return token;
  });
}

async function failed(
  deps: BrowserDeps,
  { organisation, request }: Visit,
  user: User | undefined,
  failure: "invalid-passkey" | "disabled",
): Promise<typeof failure> {
  deps.activity.count(organisation.id, "failed-sign-ins");
  await recordStrangersEvent(deps, {
    orgId: organisation.id,
    actor: "anonymous",
    action: "sign-in.failed",
    address: addressOf(request),
    details: { reason: failure === "disabled" ? "account disabled" : "passkey refused" },
    ...(user ? { target: user.id } : {}),
  });
  return failure;
}
