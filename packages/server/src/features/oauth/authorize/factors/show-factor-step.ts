/** The pages between the password and the session: show a second factor, or add the first one. */
import { randomUUID } from "node:crypto";
import { ownerOf } from "../../../../core/second-factors/factor-status.ts";
import { listPasskeys } from "../../../../core/second-factors/passkeys/passkeys.store.ts";
import { creationOptions, requestOptions } from "../../../../core/second-factors/passkeys/passkeys.ts";
import { findFactorSummary } from "../../../../core/second-factors/second-factors.store.ts";
import { beginTotpEnrolment, openTotpEnrolment } from "../../../../core/second-factors/totp/enrolment.ts";
import { totpUri } from "../../../../core/second-factors/totp/totp.ts";
import { qrCode } from "../../../../html/components/qr-code.ts";
import { copyScript, passkeyScript } from "../../../../html/scripts.ts";
import {
  type BrowserDeps,
  formBinding,
  orgPath,
  pageFrame,
  pageOrganisation,
  show,
  type Visit,
} from "../browser.ts";
import { type Flow, withAnotherAccount } from "../flow.ts";
import type { FactorStep } from "../next-step.ts";
import { destinationOf, type PageRequest } from "../page-request.ts";
import type { AuthorizationRequest } from "../request/authorization-request.ts";
import { PENDING_SIGN_IN_MS, sealPending } from "../sign-in/pending-sign-in.ts";
import { type EnrolmentView, enrolmentPage } from "./enrolment.page.ts";
import { chosenMethod, methodsToAdd, methodsToShow } from "./factor-method.ts";
import { type TwoFactorFailure, twoFactorPage } from "./two-factor.page.ts";

export interface FactorStepShown {
  readonly flow: Flow;
  readonly request: AuthorizationRequest | PageRequest;
  readonly step: FactorStep;
  /** The sealed sign-in that waits. */
  readonly pending: string;
  /** What was chosen; the best that there is when it is absent. */
  readonly method?: string | undefined;
  /** The sealed secret that the last page had. */
  readonly enrolment?: string | undefined;
  /** Whether the box was ticked; undefined where it is not offered. */
  readonly remember?: boolean | undefined;
  readonly error?: TwoFactorFailure;
  readonly retryAfterSeconds?: number;
  readonly status?: number;
}

/** What the right password began: there is no session yet. */
export function showFactorStepOfPassword(
  deps: BrowserDeps,
  visit: Visit,
  shown: Omit<FactorStepShown, "pending">,
  passwordChangedAt: number | null,
): Promise<void> {
  const pending = pendingOf(deps, visit, shown, { passwordChangedAt, sessionId: null });
  return showFactorStep(deps, visit, { ...shown, pending, remember: false });
}

/** A session that has to be raised: the password is not asked again while it lives. */
export function showFactorStepOfSession(
  deps: BrowserDeps,
  visit: Visit,
  shown: Omit<FactorStepShown, "pending">,
): Promise<void> {
  const sessionId = shown.step.signedIn.session.id;
  const pending = pendingOf(deps, visit, shown, { passwordChangedAt: null, sessionId });
  return showFactorStep(deps, visit, { ...shown, pending });
}

function pendingOf(
  deps: BrowserDeps,
  visit: Visit,
  { flow, step }: Pick<FactorStepShown, "flow" | "step">,
  since: { passwordChangedAt: number | null; sessionId: string | null },
): string {
  const { session, user } = step.signedIn;
  const { browser } = formBinding(deps, visit);
  const pending = {
    id: randomUUID(),
    userId: user.id,
    authTime: session.authTime,
    amr: session.amr,
    acr: session.acr,
    ...since,
    flow,
    expiresAt: deps.clock() + PENDING_SIGN_IN_MS,
  };
  return sealPending(deps.secondFactors.seals, pending, { orgId: visit.organisation.id, browser });
}

export async function showFactorStep(deps: BrowserDeps, visit: Visit, shown: FactorStepShown): Promise<void> {
  const { organisation, reply } = visit;
  const { flow, request, step } = shown;
  const frame = pageFrame(visit, request.uiLocales, step.signedIn.user);
  const { application, leadsAway } = destinationOf(request, organisation, frame.messages);
  const { browser, csrf } = formBinding(deps, visit);
  const otherAccount = withAnotherAccount(flow, request.prompts, deps.clock());
  const common = {
    ...frame,
    organisation: pageOrganisation(organisation),
    application,
    user: { email: step.signedIn.user.email },
    otherAccountUri: `${orgPath(organisation, "authorize")}?flow=${deps.flows.seal(otherAccount)}`,
    action: orgPath(organisation, "twofactor"),
    csrf,
    flow: deps.flows.seal(flow),
    pending: shown.pending,
  };
  const page =
    step.kind === "enrolment"
      ? enrolmentPage({ ...common, ...(await toAdd(deps, visit, shown, browser)) })
      : twoFactorPage({ ...common, ...(await toShow(deps, visit, shown, browser)) });
  if (shown.retryAfterSeconds !== undefined) reply.header("retry-after", String(shown.retryAfterSeconds));
  return show(visit, frame, page, {
    status: shown.status ?? 200,
    leadsAway,
  });
}

async function toShow(deps: BrowserDeps, { organisation }: Visit, shown: FactorStepShown, browser: string) {
  const { step, error, retryAfterSeconds } = shown;
  const { user } = step.signedIn;
  const { challenges, relyingParty } = deps.secondFactors;
  const methods = methodsToShow(step, await findFactorSummary(deps.database.query, ownerOf(user)));
  // The step is decided for who can show one; whoever lost it since sees the page that refuses every code.
  const method = chosenMethod(methods, shown.method) ?? "totp";
  const purpose = { orgId: organisation.id, use: "second-factor", browser, userId: user.id } as const;
  const options =
    method !== "passkey"
      ? undefined
      : JSON.stringify(
          requestOptions({
            relyingParty,
            challenge: challenges.issue(purpose, deps.clock() + PENDING_SIGN_IN_MS),
            allowed: await listPasskeys(deps.database.query, ownerOf(user)),
            userVerification: "preferred",
          }),
        );
  return {
    method,
    others: methods.filter((other) => other !== method),
    options,
    remember: shown.remember === undefined ? undefined : { checked: shown.remember },
    script: passkeyScript.path,
    error,
    retryAfterSeconds,
  };
}

async function toAdd(deps: BrowserDeps, { organisation }: Visit, shown: FactorStepShown, browser: string) {
  const { step } = shown;
  const { user } = step.signedIn;
  const { seals, challenges, relyingParty } = deps.secondFactors;
  const now = deps.clock();
  const methods = methodsToAdd(step);
  const method = chosenMethod(methods, shown.method) ?? "passkey";
  const binding = { owner: ownerOf(user), browser, now };
  const enrolment =
    openTotpEnrolment(seals, shown.enrolment, binding) ?? (await beginTotpEnrolment(seals, binding));
  const purpose = { orgId: organisation.id, use: "registration", browser, userId: user.id } as const;
  const needed: EnrolmentView["shown"] =
    method === "totp"
      ? { method, setup: await setupOf(organisation.name, user.email, enrolment.secret) }
      : {
          method,
          options: JSON.stringify(
            creationOptions({
              relyingParty,
              challenge: challenges.issue(purpose, now + PENDING_SIGN_IN_MS),
              user,
              organisationName: organisation.name,
              existing: await listPasskeys(deps.database.query, ownerOf(user)),
            }),
          ),
        };
  return {
    askedBy: organisation.settings.secondFactor === "required" ? "organisation" : "application",
    enrolment: enrolment.sealed,
    shown: needed,
    others: methods.filter((other) => other !== method),
    script: method === "totp" ? copyScript.path : passkeyScript.path,
    wrong: shown.error === "wrong",
  } as const;
}

async function setupOf(issuer: string, label: string, secret: string) {
  const uri = await totpUri({ issuer, label, secret });
  return { qr: await qrCode(uri), uri, key: secret };
}
