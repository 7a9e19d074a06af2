/** Checks what the two-factor pages submit: a code, a passkey assertion, or a new factor. */
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from "@simplewebauthn/server";
import { offeredFactors } from "../../../../core/organisations/sign-in-methods.ts";
import { directSource } from "../../../../core/rate-limits/guess-source.ts";
import { RateLimited } from "../../../../core/rate-limits/rate-limits.ts";
import { addPasskey, confirmTotp, type FactorChange } from "../../../../core/second-factors/changes.ts";
import { checkCode } from "../../../../core/second-factors/check-code.ts";
import { factorOwner } from "../../../../core/second-factors/factor-status.ts";
import {
  type ChallengePurpose,
  consumeChallenge,
} from "../../../../core/second-factors/passkeys/challenge.ts";
import { findPasskey, recordPasskeyUse } from "../../../../core/second-factors/passkeys/passkeys.store.ts";
import {
  type PasskeyAnswer,
  passkeyName,
  readPasskeyAnswer,
  userIdOfHandle,
  verifyNewPasskey,
  verifyPasskey,
} from "../../../../core/second-factors/passkeys/passkeys.ts";
import {
  codeAmr,
  type FactorProof,
  type FactorStatus,
  methodAcr,
  passkeyAmr,
} from "../../../../core/second-factors/second-factor.ts";
import { matchingStep, openTotpEnrolment, readTotpCode } from "../../../../core/second-factors/totp/totp.ts";
import { toAssurance } from "../../../../core/sessions/session.ts";
import type { User } from "../../../../core/users/user.ts";
import { addressOf } from "../../../../http/listeners/client-address.ts";
import { type BrowserDeps, requestOrigin, type Visit } from "../browser.ts";
import { enrolmentMethods, selectMethod, verificationMethods } from "./factor-method.ts";
import type { FactorStepState } from "./factor-step.ts";

export type FactorCheck =
  | { readonly kind: "proven"; readonly proof: FactorProof }
  | { readonly kind: "wrong" }
  | { readonly kind: "rate-limited"; readonly limit: RateLimited };

type Values = ReadonlyMap<string, string>;
type State = Pick<FactorStepState, "request" | "step" | "enrolment">;

const wrong: FactorCheck = { kind: "wrong" };
const proven = (proof: FactorProof): FactorCheck => ({ kind: "proven", proof });

export async function checkFactor(
  deps: BrowserDeps,
  visit: Visit,
  { step }: State,
  factors: FactorStatus,
  values: Values,
): Promise<FactorCheck> {
  const { user } = step.signedIn;
  const method = selectMethod(verificationMethods(step, factors), values.get("method"));
  if (method === undefined) return wrong;
  if (method === "passkey") return checkPasskey(deps, visit, user, values.get("passkey"));
  const { id: orgId } = visit.organisation;
  const input = values.get("code") ?? "";
  try {
    const source = directSource(addressOf(visit.request));
    const proof = await checkCode(deps, { orgId, user, method, input, source });
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
  if (!answer || !answersChallenge(deps, visit, user, answer, "second-factor")) return wrong;
  const { userHandle } = answer;
  if (userHandle !== undefined && userIdOfHandle(userHandle) !== user.id) return wrong;
  const owner = factorOwner(user);
  const passkey = await findPasskey(deps.database.query, owner, answer.response.id);
  if (!passkey) return wrong;
  // Possession is enough as a second factor: older security keys can't verify the user.
  const expected = { relyingParty: deps.secondFactors.relyingParty, requireUserVerification: false };
  const verified = await verifyPasskey(answer, passkey, expected);
  if (!verified) return wrong;
  const use = { id: passkey.id, ...verified, now: deps.clock() };
  return proven({
    method: "passkey",
    amr: passkeyAmr(verified),
    acr: methodAcr.passkey,
    use: async (tx) => {
      const isFirstUse = await consumeChallenge(tx, visit.organisation.id, answer.challenge);
      return isFirstUse && (await recordPasskeyUse(tx, owner, use)) ? [] : undefined;
    },
  });
}

/** Whether this server issued the challenge to this browser. */
function answersChallenge(
  deps: BrowserDeps,
  { request, organisation }: Visit,
  { id: userId }: User,
  { challenge }: PasskeyAnswer<unknown>,
  use: ChallengePurpose["use"],
): boolean {
  const browser = deps.cookies.read(request, organisation.id);
  if (browser === undefined) return false;
  const purpose = { orgId: organisation.id, use, browser, userId };
  return deps.secondFactors.challenges.isGenuine(challenge, purpose, deps.clock());
}

/** The first factor of a user who must have one: enrolling it also verifies it. */
export function checkEnrolment(
  deps: BrowserDeps,
  visit: Visit,
  state: State,
  values: Values,
): Promise<FactorCheck> {
  const { user, session } = state.step.signedIn;
  const change: FactorChange = {
    organisation: visit.organisation,
    user,
    actor: `user:${user.id}`,
    reached: toAssurance(session.acr),
    origin: requestOrigin(visit, state.request.uiLocales),
  };
  return selectMethod(
    enrolmentMethods(state.step, offeredFactors(visit.organisation.settings)),
    values.get("method"),
  ) === "totp"
    ? checkNewTotp(deps, visit, state, change, values)
    : checkNewPasskey(deps, visit, change, values);
}

async function checkNewTotp(
  deps: BrowserDeps,
  { request, organisation }: Visit,
  { enrolment }: State,
  change: FactorChange,
  values: Values,
): Promise<FactorCheck> {
  const now = deps.clock();
  const browser = deps.cookies.read(request, organisation.id) ?? "";
  const binding = { owner: factorOwner(change.user), browser, now };
  const opened = openTotpEnrolment(deps.secondFactors.seals, enrolment, binding);
  const code = readTotpCode(values.get("code") ?? "");
  if (!opened || code === undefined) return wrong;
  const { secret } = opened;
  const step = await matchingStep(secret, code, now);
  if (step === undefined) return wrong;
  return proven({
    method: "totp",
    amr: codeAmr.totp,
    acr: methodAcr.totp,
    use: (tx) => confirmTotp(deps, tx, change, { secret, step }),
  });
}

async function checkNewPasskey(
  deps: BrowserDeps,
  visit: Visit,
  change: FactorChange,
  values: Values,
): Promise<FactorCheck> {
  const answer = readPasskeyAnswer<RegistrationResponseJSON>(values.get("passkey"));
  if (!answer || !answersChallenge(deps, visit, change.user, answer, "registration")) return wrong;
  const name = passkeyName(values.get("name") ?? "") ?? "Passkey";
  const expected = { relyingParty: deps.secondFactors.relyingParty, name, now: deps.clock() };
  const verified = await verifyNewPasskey(answer, expected);
  if (!verified) return wrong;
  return proven({
    method: "passkey",
    amr: passkeyAmr(verified.use),
    acr: methodAcr.passkey,
    use: async (tx) =>
      (await consumeChallenge(tx, visit.organisation.id, answer.challenge))
        ? addPasskey(deps, tx, change, verified.passkey)
        : undefined,
  });
}
