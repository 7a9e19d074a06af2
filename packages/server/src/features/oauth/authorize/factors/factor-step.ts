/** Shows the second-factor step: verify a factor, or enrol the first one. */
import { randomUUID } from "node:crypto";
import type { Organisation } from "../../../../core/organisations/organisation.ts";
import { offeredFactors, requiresPasskeys } from "../../../../core/organisations/sign-in-methods.ts";
import { factorOwner } from "../../../../core/second-factors/factor-status.ts";
import { listPasskeys } from "../../../../core/second-factors/passkeys/passkeys.store.ts";
import { creationOptions, requestOptions } from "../../../../core/second-factors/passkeys/passkeys.ts";
import { findFactorSummary } from "../../../../core/second-factors/second-factors.store.ts";
import { beginTotpEnrolment, openTotpEnrolment, totpUri } from "../../../../core/second-factors/totp/totp.ts";
import { assurance, type SignedIn } from "../../../../core/sessions/session.ts";
import { qrCode } from "../../../../html/components/authenticator-setup.ts";
import { copyScript, passkeyScript } from "../../../../html/scripts.ts";
import { type BrowserDeps, flowPath, formBinding, orgPath, show, type Visit } from "../browser.ts";
import { withAnotherAccount } from "../flow.ts";
import type { FactorStep } from "../next-step.ts";
import { type FlowRequest, flowPage } from "../page-request.ts";
import { PENDING_SIGN_IN_MS, sealPending } from "../sign-in/pending-sign-in.ts";
import { type EnrolmentView, enrolmentPage } from "./enrolment.page.ts";
import { enrolmentMethods, selectMethod, verificationMethods } from "./factor-method.ts";
import { type TwoFactorFailure, twoFactorPage } from "./two-factor.page.ts";

export interface FactorStepState extends FlowRequest {
  readonly step: FactorStep;
  readonly pending: string;
  /** The user's choice; the strongest method by default. */
  readonly method?: string | undefined;
  readonly enrolment?: string | undefined;
  /** Whether "trust this browser" is ticked; undefined where it isn't offered. */
  readonly remember?: boolean | undefined;
  /** A passkey that need not be added. */
  readonly isOffer?: boolean;
  readonly error?: TwoFactorFailure;
  readonly retryAfterSeconds?: number;
  readonly status?: number;
}

type NewStep = Omit<FactorStepState, "pending">;

/** After the password, before there is a session. */
export function showSecondFactor(
  deps: BrowserDeps,
  visit: Visit,
  state: NewStep,
  passwordChangedAt: number | null,
): Promise<void> {
  const pending = beginPending(deps, visit, state, { passwordChangedAt, sessionId: null });
  return showFactorStep(deps, visit, { ...state, pending, remember: false });
}

/** Raises an existing session, without the password. */
export function showStepUp(deps: BrowserDeps, visit: Visit, state: NewStep): Promise<void> {
  const sessionId = state.step.signedIn.session.id;
  const pending = beginPending(deps, visit, state, { passwordChangedAt: null, sessionId });
  return showFactorStep(deps, visit, { ...state, pending });
}

/** As a first factor that is enrolled, but that it can be put off. */
export function showPasskeyOffer(
  deps: BrowserDeps,
  visit: Visit,
  current: FlowRequest,
  signedIn: SignedIn,
): Promise<void> {
  return showStepUp(deps, visit, { ...current, step: offeredStep(signedIn), isOffer: true });
}

export const offeredStep = (signedIn: SignedIn): FactorStep => ({
  ...{ kind: "enrolment", signedIn, required: assurance.phishingResistant },
});

function beginPending(
  deps: BrowserDeps,
  visit: Visit,
  { flow, step }: NewStep,
  basis: { passwordChangedAt: number | null; sessionId: string | null },
): string {
  const { session, user } = step.signedIn;
  const { authTime, amr, acr } = session;
  const expiresAt = deps.clock() + PENDING_SIGN_IN_MS;
  const pending = { id: randomUUID(), userId: user.id, authTime, amr, acr, ...basis, flow, expiresAt };
  const { browser } = formBinding(deps, visit);
  return sealPending(deps.secondFactors.seals, pending, { orgId: visit.organisation.id, browser });
}

export async function showFactorStep(deps: BrowserDeps, visit: Visit, state: FactorStepState): Promise<void> {
  const { flow, request, step, status = 200, retryAfterSeconds } = state;
  const { user } = step.signedIn;
  const shared = flowPage(deps, visit, state, user, "twofactor");
  const { browser, redirectsElsewhere } = shared;
  const otherAccount = withAnotherAccount(flow, request.prompts, deps.clock());
  const common = {
    ...shared.page,
    user: { email: user.email },
    otherAccountUri: flowPath(deps, visit, "authorize", otherAccount),
    pending: state.pending,
  };
  const page =
    step.kind === "enrolment"
      ? enrolmentPage({ ...common, ...(await enrolmentFields(deps, visit, state, browser)) })
      : twoFactorPage({ ...common, ...(await verificationFields(deps, visit, state, browser)) });
  if (retryAfterSeconds !== undefined) visit.reply.header("retry-after", String(retryAfterSeconds));
  return show(visit, common, page, { status, redirectsElsewhere });
}

async function verificationFields(
  deps: BrowserDeps,
  { organisation }: Visit,
  { step, remember, error, retryAfterSeconds, method: chosen }: FactorStepState,
  browser: string,
) {
  const { user } = step.signedIn;
  const { challenges, relyingParty } = deps.secondFactors;
  const offered = offeredFactors(organisation.settings);
  const summary = await findFactorSummary(deps.database.query, factorOwner(user));
  const methods = verificationMethods(step, { ...summary, offered });
  // A user who has lost the factor since the step was decided gets a page that rejects every code.
  const method = selectMethod(methods, chosen) ?? "totp";
  const purpose = { orgId: organisation.id, use: "second-factor", browser, userId: user.id } as const;
  const options =
    method !== "passkey"
      ? undefined
      : JSON.stringify(
          requestOptions({
            relyingParty,
            challenge: challenges.issue(purpose, deps.clock() + PENDING_SIGN_IN_MS),
            allowed: await listPasskeys(deps.database.query, factorOwner(user)),
            userVerification: "preferred",
          }),
        );
  return {
    method,
    others: methods.filter((other) => other !== method),
    options,
    remember: remember === undefined ? undefined : { checked: remember },
    script: passkeyScript.path,
    error,
    retryAfterSeconds,
  };
}

async function enrolmentFields(
  deps: BrowserDeps,
  { organisation }: Visit,
  { step, enrolment, error, method: chosen, isOffer = false }: FactorStepState,
  browser: string,
) {
  const { user } = step.signedIn;
  const { seals, challenges, relyingParty } = deps.secondFactors;
  const now = deps.clock();
  const methods = enrolmentMethods(step, offeredFactors(organisation.settings));
  const method = selectMethod(methods, chosen) ?? "passkey";
  const binding = { owner: factorOwner(user), browser, now };
  const { secret, sealed } =
    openTotpEnrolment(seals, enrolment, binding) ?? (await beginTotpEnrolment(seals, binding));
  const purpose = { orgId: organisation.id, use: "registration", browser, userId: user.id } as const;
  const shown: EnrolmentView["shown"] =
    method === "totp"
      ? { method, setup: await authenticatorSetup(organisation.name, user.email, secret) }
      : {
          method,
          options: JSON.stringify(
            creationOptions({
              relyingParty,
              challenge: challenges.issue(purpose, now + PENDING_SIGN_IN_MS),
              user,
              organisationName: organisation.name,
              existing: await listPasskeys(deps.database.query, factorOwner(user)),
            }),
          ),
        };
  return {
    askedBy: isOffer ? ("nobody" as const) : whoAsks(organisation),
    laterAction: orgPath(organisation, "passkey-offer"),
    enrolment: sealed,
    shown,
    others: methods.filter((other) => other !== method),
    script: method === "totp" ? copyScript.path : passkeyScript.path,
    wrong: error === "wrong",
  } as const;
}

function whoAsks({ settings }: Organisation): EnrolmentView["askedBy"] {
  if (settings.passkeyEnrolment === "required") return "organisation-passkey";
  if (requiresPasskeys(settings) || !offeredFactors(settings).includes("totp")) return "organisation-passkey";
  return settings.secondFactor === "required" ? "organisation" : "application";
}

async function authenticatorSetup(issuer: string, label: string, secret: string) {
  const uri = await totpUri({ issuer, label, secret });
  return { qr: await qrCode(uri), uri, key: secret };
}
