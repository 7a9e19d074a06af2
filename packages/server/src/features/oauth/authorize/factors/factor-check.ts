/** Looks at what the two-factor pages send: a code, a passkey's answer, or a factor that is being added. */

import type { AuthenticationResponseJSON, RegistrationResponseJSON } from "@simplewebauthn/server";
import { RateLimited } from "../../../../core/rate-limits/rate-limits.ts";
import { addPasskey, confirmTotp, type FactorChange } from "../../../../core/second-factors/changes.ts";
import { checkCode } from "../../../../core/second-factors/check-code.ts";
import {
  acrOfMethod,
  codeAmr,
  type FactorProof,
  passkeyAmr,
} from "../../../../core/second-factors/factor-proof.ts";
import { ownerOf } from "../../../../core/second-factors/factor-status.ts";
import { type ChallengePurpose, takeChallenge } from "../../../../core/second-factors/passkeys/challenge.ts";
import { passkeyName } from "../../../../core/second-factors/passkeys/passkey.ts";
import { findPasskey, recordPasskeyUse } from "../../../../core/second-factors/passkeys/passkeys.store.ts";
import {
  readPasskeyAnswer,
  userOfHandle,
  verifyNewPasskey,
  verifyPasskey,
} from "../../../../core/second-factors/passkeys/passkeys.ts";
import type { FactorSummary } from "../../../../core/second-factors/second-factor.ts";
import { openTotpEnrolment } from "../../../../core/second-factors/totp/enrolment.ts";
import { matchingStep, readTotpCode } from "../../../../core/second-factors/totp/totp.ts";
import { assuranceOf } from "../../../../core/sessions/assurance.ts";
import type { User } from "../../../../core/users/user.ts";
import { addressOf } from "../../../../http/listeners/client-address.ts";
import { type BrowserDeps, originOf, type Visit } from "../browser.ts";
import { chosenMethod, methodsToAdd, methodsToShow } from "./factor-method.ts";
import type { FactorStepShown } from "./show-factor-step.ts";

export type FactorCheck =
  | { readonly kind: "proven"; readonly proof: FactorProof }
  | { readonly kind: "wrong" }
  | { readonly kind: "rate-limited"; readonly limit: RateLimited };

type Values = ReadonlyMap<string, string>;
type Shown = Pick<FactorStepShown, "request" | "step" | "enrolment">;

const wrong: FactorCheck = { kind: "wrong" };
const proven = (proof: FactorProof): FactorCheck => ({ kind: "proven", proof });
const noSideEffect = () => Promise.resolve();

export function checkShownFactor(
  deps: BrowserDeps,
  visit: Visit,
  { step }: Shown,
  factors: FactorSummary,
  values: Values,
): Promise<FactorCheck> {
  const { user } = step.signedIn;
  const method = chosenMethod(methodsToShow(step, factors), values.get("method"));
  if (method === undefined) return Promise.resolve(wrong);
  if (method === "passkey") return checkPasskey(deps, visit, user, values.get("passkey"));
  return checkTypedCode(deps, visit, user, method, values.get("code") ?? "");
}

async function checkTypedCode(
  deps: BrowserDeps,
  { organisation, request }: Visit,
  user: User,
  method: "totp" | "recovery",
  typed: string,
): Promise<FactorCheck> {
  try {
    const code = { orgId: organisation.id, user, method, typed, address: addressOf(request) };
    const proof = await checkCode(deps, code);
    return proof ? proven(proof) : wrong;
  } catch (error) {
    if (error instanceof RateLimited) return { kind: "rate-limited", limit: error };
    throw error;
  }
}

async function checkPasskey(
  deps: BrowserDeps,
  visit: Visit,
  user: User,
  text: string | undefined,
): Promise<FactorCheck> {
  const answer = readPasskeyAnswer<AuthenticationResponseJSON>(text);
  const purpose = purposeOf(deps, visit, user, "second-factor");
  if (
    !answer ||
    !purpose ||
    !deps.secondFactors.challenges.isGenuine(answer.challenge, purpose, deps.clock())
  )
    return wrong;
  const { userHandle } = answer;
  if (userHandle !== undefined && userOfHandle(userHandle) !== user.id) return wrong;
  const owner = ownerOf(user);
  const passkey = await findPasskey(deps.database.query, owner, answer.response.id);
  if (!passkey) return wrong;
  // Beside a password the key in somebody's hand is enough: older security keys can do no more.
  const expected = { relyingParty: deps.secondFactors.relyingParty, requireUserVerification: false };
  const used = await verifyPasskey(answer, passkey, expected);
  if (!used) return wrong;
  const use = { id: passkey.id, ...used, now: deps.clock() };
  return proven({
    method: "passkey",
    amr: passkeyAmr(used),
    acr: acrOfMethod.passkey,
    use: async (tx) => {
      const first = await takeChallenge(tx, visit.organisation.id, answer.challenge);
      return first && (await recordPasskeyUse(tx, owner, use)) ? [] : undefined;
    },
    accepted: noSideEffect,
  });
}

/** Undefined for a browser without our cookie, which no page of ours has asked for anything. */
function purposeOf(
  deps: BrowserDeps,
  { request, organisation }: Visit,
  user: User,
  use: ChallengePurpose["use"],
): ChallengePurpose | undefined {
  const browser = deps.cookies.read(request, organisation.id);
  return browser === undefined ? undefined : { orgId: organisation.id, use, browser, userId: user.id };
}

/** The first factor of somebody who must have one. To show that it works is to use it. */
export function checkAddedFactor(
  deps: BrowserDeps,
  visit: Visit,
  shown: Shown,
  values: Values,
): Promise<FactorCheck> {
  const { user, session } = shown.step.signedIn;
  const change: FactorChange = {
    organisation: visit.organisation,
    user,
    actor: `user:${user.id}`,
    reached: assuranceOf(session.acr),
    origin: originOf(visit, shown.request.uiLocales),
  };
  return chosenMethod(methodsToAdd(shown.step), values.get("method")) === "totp"
    ? checkAddedTotp(deps, visit, shown, change, values)
    : checkAddedPasskey(deps, visit, user, change, values);
}

async function checkAddedTotp(
  deps: BrowserDeps,
  { request, organisation }: Visit,
  { step, enrolment }: Shown,
  change: FactorChange,
  values: Values,
): Promise<FactorCheck> {
  const now = deps.clock();
  const binding = {
    owner: ownerOf(step.signedIn.user),
    browser: deps.cookies.read(request, organisation.id) ?? "",
    now,
  };
  const opened = openTotpEnrolment(deps.secondFactors.seals, enrolment, binding);
  const code = readTotpCode(values.get("code") ?? "");
  if (!opened || code === undefined) return wrong;
  const used = await matchingStep(opened.secret, code, now);
  if (used === undefined) return wrong;
  return proven({
    method: "totp",
    amr: codeAmr.totp,
    acr: acrOfMethod.totp,
    use: (tx) => confirmTotp(deps, tx, change, { secret: opened.secret, step: used }),
    accepted: noSideEffect,
  });
}

async function checkAddedPasskey(
  deps: BrowserDeps,
  visit: Visit,
  user: User,
  change: FactorChange,
  values: Values,
): Promise<FactorCheck> {
  const answer = readPasskeyAnswer<RegistrationResponseJSON>(values.get("passkey"));
  const now = deps.clock();
  const purpose = purposeOf(deps, visit, user, "registration");
  if (!answer || !purpose || !deps.secondFactors.challenges.isGenuine(answer.challenge, purpose, now))
    return wrong;
  const name = passkeyName(values.get("name") ?? "") ?? "Passkey";
  const expected = { relyingParty: deps.secondFactors.relyingParty, name, now };
  const verified = await verifyNewPasskey(answer, expected);
  if (!verified) return wrong;
  return proven({
    method: "passkey",
    amr: passkeyAmr(verified.use),
    acr: acrOfMethod.passkey,
    use: async (tx) =>
      (await takeChallenge(tx, visit.organisation.id, answer.challenge))
        ? addPasskey(deps, tx, change, verified.passkey)
        : undefined,
    accepted: noSideEffect,
  });
}
