/** Sign-in with a passkey alone: possession and user verification are two factors in one (WebAuthn §7.2). */

import type { AuthenticationResponseJSON } from "@simplewebauthn/server";
import { countFailedSignIn } from "../../../../core/activity/kinds.ts";
import { recordUnauthenticatedEvent } from "../../../../core/audit/unauthenticated-events.ts";
import { mayBreakGlass, recordBreakGlassUse } from "../../../../core/break-glass/break-glass-use.ts";
import { offersPasskeySignIn } from "../../../../core/organisations/sign-in-methods.ts";
import { countAttempt, networkPrefix } from "../../../../core/rate-limits/rate-limits.ts";
import { factorOwner } from "../../../../core/second-factors/factor-status.ts";
import { consumeChallenge } from "../../../../core/second-factors/passkeys/challenge.ts";
import { findPasskey, recordPasskeyUse } from "../../../../core/second-factors/passkeys/passkeys.store.ts";
import {
  type Passkey,
  type PasskeyAnswer,
  type PasskeyUse,
  readPasskeyAnswer,
  userIdOfHandle,
  verifyPasskey,
} from "../../../../core/second-factors/passkeys/passkeys.ts";
import { methodAcr, passkeyAmr } from "../../../../core/second-factors/second-factor.ts";
import type { StartedSession } from "../../../../core/sessions/sessions.ts";
import { lockIfEnabled } from "../../../../core/users/account.store.ts";
import type { User } from "../../../../core/users/user.ts";
import { findUser } from "../../../../core/users/users.store.ts";
import { addressOf } from "../../../../http/listeners/client-address.ts";
import { type BrowserDeps, currentSession, requestOrigin, type Visit } from "../browser.ts";
import type { CurrentFlow } from "../take-step.ts";
import { deviceOfBrowser } from "./browser-device.ts";
import { type OwnFactorsDeps, ownFactors } from "./own-factors.ts";
import { finishSignIn, type SignInTarget, startBrowserSession } from "./start-session.ts";

interface VerifiedPasskey {
  readonly user: User;
  readonly passkey: Passkey;
  readonly use: PasskeyUse;
  readonly challenge: string;
}

export interface PasskeyFailure {
  readonly error: "invalid-passkey" | "disabled";
  /** A passkey of an account here that the account has no longer: the browser may forget it. */
  readonly unknownCredential?: string | undefined;
}

/** @returns why it is not for this user; undefined where it is */
type Guard = (user: User) => Promise<string | undefined>;

/**
 * @returns why it failed; undefined when the session has started and its cookie is set
 * @throws RateLimited for a failure after too many from one address
 */
export const signInWithPasskey = (
  deps: OwnFactorsDeps,
  visit: Visit,
  text: string,
  current: CurrentFlow,
): Promise<PasskeyFailure | undefined> =>
  signIn(deps, visit, { text, current }, async ({ email }) =>
    (await ownFactors(deps, visit, current, email)).kind === "closed" ? "the domain is enforced" : undefined,
  );

/** Past an enforced connection: of everybody but its administrators the passkey is a wrong one. As `signInWithPasskey`. */
export const breakGlassWithPasskey = (
  deps: BrowserDeps,
  visit: Visit,
  text: string,
  current: CurrentFlow,
): Promise<PasskeyFailure | undefined> =>
  signIn(deps, visit, { text, current }, async (user) => {
    if (!(await mayBreakGlass(deps.database.query, user))) return "no break-glass administrator";
    await recordBreakGlassUse(deps, user, requestOrigin(visit, current.request.uiLocales));
    return undefined;
  });

async function signIn(
  deps: BrowserDeps,
  visit: Visit,
  { text, current }: { readonly text: string; readonly current: CurrentFlow },
  guard: Guard,
): Promise<PasskeyFailure | undefined> {
  const { organisation, request } = visit;
  const target: SignInTarget = current.request;
  if (!offersPasskeySignIn(organisation.settings))
    return recordFailure(deps, visit, target, undefined, "invalid-passkey", "passkeys are off");
  const verified = await verify(deps, visit, text);
  if (!verified || "unknownCredential" in verified) {
    // Signatures can't be guessed: failures count afterwards, and never keep anybody with a passkey out. The subject is
    // apart from the codes', which need the password.
    const subject = `passkey|${networkPrefix(addressOf(request))}`;
    await countAttempt(deps, organisation.id, [{ limit: deps.rateLimits["second-factor-address"], subject }]);
    return { ...(await recordFailure(deps, visit, target, undefined, "invalid-passkey")), ...verified };
  }
  if (verified.user.disabledAt !== null) return recordFailure(deps, visit, target, verified.user, "disabled");
  const closed = await guard(verified.user);
  if (closed !== undefined)
    return recordFailure(deps, visit, target, verified.user, "invalid-passkey", closed);
  const started = await startPasskeySession(deps, visit, verified, target);
  if (!started) return recordFailure(deps, visit, target, verified.user, "invalid-passkey");
  finishSignIn(deps, visit, started);
  return undefined;
}

async function verify(
  deps: BrowserDeps,
  visit: Visit,
  text: string,
): Promise<VerifiedPasskey | { readonly unknownCredential: string } | undefined> {
  const { organisation, request } = visit;
  const { challenges, relyingParty } = deps.secondFactors;
  const answer = readPasskeyAnswer<AuthenticationResponseJSON>(text);
  const browser = deps.cookies.read(request, organisation.id);
  if (!answer || browser === undefined) return undefined;
  const purpose = { orgId: organisation.id, use: "sign-in", browser } as const;
  if (!challenges.isGenuine(answer.challenge, purpose, deps.clock())) return undefined;
  const found = await findOwner(deps, organisation.id, answer);
  if (!found || "unknownCredential" in found) return found;
  const use = await verifyPasskey(answer, found.passkey, { relyingParty, requireUserVerification: true });
  return use && { ...found, use, challenge: answer.challenge };
}

/** WebAuthn §7.2, step 6: the user of the response's handle must own the credential. */
async function findOwner(
  { database }: BrowserDeps,
  orgId: string,
  { response, userHandle }: PasskeyAnswer<AuthenticationResponseJSON>,
): Promise<{ user: User; passkey: Passkey } | { readonly unknownCredential: string } | undefined> {
  const userId = userIdOfHandle(userHandle);
  const user = userId === undefined ? undefined : await findUser(database.query, orgId, userId);
  const passkey = user && (await findPasskey(database.query, factorOwner(user), response.id));
  if (passkey) return { user, passkey };
  // Only of an account that is known here: another organisation of this host has passkeys under the same name.
  return user && { unknownCredential: response.id };
}

/** @returns undefined when challenge or counter was used before, or the account has been disabled */
async function startPasskeySession(
  deps: BrowserDeps,
  visit: Visit,
  { user, passkey, use, challenge }: VerifiedPasskey,
  target: SignInTarget,
): Promise<StartedSession | undefined> {
  const now = deps.clock();
  const before = await currentSession(deps, visit);
  const deviceId = await deviceOfBrowser(deps, visit);
  return deps.database.transaction(async (tx) => {
    // The account is locked before its factors, as everywhere, so that two transactions never deadlock.
    if (!(await lockIfEnabled(tx, user))) return undefined;
    if (!(await consumeChallenge(tx, visit.organisation.id, challenge))) return undefined;
    if (!(await recordPasskeyUse(tx, factorOwner(user), { id: passkey.id, ...use, now }))) return undefined;
    const proof = { amr: passkeyAmr(use), acr: methodAcr.passkey };
    return startBrowserSession(deps, tx, visit, { user, ...proof, request: target, before, deviceId });
  });
}

async function recordFailure(
  deps: BrowserDeps,
  { organisation, request }: Visit,
  { application }: SignInTarget,
  user: User | undefined,
  failure: "invalid-passkey" | "disabled",
  reason = failure === "disabled" ? "account disabled" : "passkey refused",
): Promise<PasskeyFailure> {
  countFailedSignIn(deps.activity.count, organisation.id, "passkey");
  await recordUnauthenticatedEvent(deps, {
    orgId: organisation.id,
    actor: "anonymous",
    action: "sign-in.failed",
    address: addressOf(request),
    applicationId: application?.id,
    details: { reason },
    ...(user ? { target: user.id } : {}),
  });
  return { error: failure };
}
