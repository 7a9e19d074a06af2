/** account/security/authenticator: sets up or replaces the authenticator app; …/removal: removes it. */

import type { FastifyInstance } from "fastify";
import { confirmTotp, removeTotp } from "../../../core/second-factors/changes.ts";
import { factorOwner } from "../../../core/second-factors/factor-status.ts";
import { codeAmr, methodAcr } from "../../../core/second-factors/second-factor.ts";
import { findTotp } from "../../../core/second-factors/second-factors.store.ts";
import {
  beginTotpEnrolment,
  matchingStep,
  openTotpEnrolment,
  readTotpCode,
  rebindTotpEnrolment,
  totpUri,
} from "../../../core/second-factors/totp/totp.ts";
import { qrCode } from "../../../html/components/authenticator-setup.ts";
import type { AcceptedForm, Refusal, RejectedForm, SentForm } from "../../../page-kit/accept-form.ts";
import { show } from "../../../page-kit/page.ts";
import { accountRoute } from "../account-form.ts";
import { type AccountDeps, type AccountVisit, factorChange, refusal, whereOffered } from "../account-page.ts";
import { authenticatorPage, confirmPage } from "../change.page.ts";
import { backToSecurity, changeFrame, finishChange, lastFactorRefusal } from "../change.ts";
import { enrolAndStepUp } from "../raise-session.ts";

export function authenticatorRoutes(app: FastifyInstance, deps: AccountDeps): void {
  accountRoute(app, deps, "/oauth/:org/account/security/authenticator", {
    ...whereOffered("totp"),
    secrets: ["enrolment", "code"],
    carried: carryEnrolment,
    show: showSetupAgain,
    submit: setUp,
  });
  accountRoute(app, deps, "/oauth/:org/account/security/authenticator/removal", {
    show: (_, visit, rejected) => showRemoval(deps, visit, rejected?.refusal),
    submit: remove,
  });
}

/** @param state.enrolment the encrypted secret of the previous page */
async function showSetup(
  deps: AccountDeps,
  visit: AccountVisit,
  { enrolment: sealed, failure, status }: Partial<Refusal> & { readonly enrolment?: string | undefined } = {},
): Promise<void> {
  const { organisation, user } = visit;
  const binding = enrolmentBinding(deps, visit);
  const enrolment =
    openTotpEnrolment(deps.seals, sealed, binding) ?? (await beginTotpEnrolment(deps.seals, binding));
  const { secret } = enrolment;
  const uri = await totpUri({ issuer: organisation.name, label: user.email, secret });
  const frame = changeFrame(deps, visit);
  const page = authenticatorPage({
    ...frame,
    setup: { qr: await qrCode(uri), uri, key: secret },
    enrolment: enrolment.sealed,
    replaces: (await findTotp(deps.database.query, factorOwner(user))) !== undefined,
    failure,
  });
  return show(visit, frame, page, status);
}

function enrolmentBinding(deps: AccountDeps, visit: AccountVisit) {
  const { browser } = deps.browserSession.formBinding(visit);
  return { owner: factorOwner(visit.user), browser, now: deps.clock() };
}

/** Binds the enrolment of a waiting form instead of the session's token, which changes when the user reauthenticates. */
const WAITING = "waiting:";

/** Rebinds the form's encrypted secret, by default from and to the current browser. */
function rebindEnrolment(
  deps: AccountDeps,
  visit: AccountVisit,
  { values }: SentForm,
  { from, to }: { from?: string; to?: string },
): string | undefined {
  const binding = enrolmentBinding(deps, visit);
  const previous = { ...binding, browser: from ?? binding.browser };
  return rebindTotpEnrolment(deps.seals, values.get("enrolment"), previous, to ?? binding.browser);
}

function carryEnrolment(deps: AccountDeps, visit: AccountVisit, form: SentForm): Record<string, string> {
  const enrolment =
    rebindEnrolment(deps, visit, form, { to: WAITING }) ??
    rebindEnrolment(deps, visit, form, { from: WAITING, to: WAITING });
  return enrolment === undefined ? {} : { enrolment };
}

function showSetupAgain(deps: AccountDeps, visit: AccountVisit, rejected?: RejectedForm): Promise<void> {
  if (!rejected) return showSetup(deps, visit);
  // Only a form that waited has proven that its secret is this user's.
  const enrolment = rejected.refusal.failure
    ? rejected.values.get("enrolment")
    : rebindEnrolment(deps, visit, rejected, { from: WAITING });
  return showSetup(deps, visit, { enrolment, ...rejected.refusal });
}

async function setUp(deps: AccountDeps, visit: AccountVisit, { values }: AcceptedForm): Promise<void> {
  const enrolment = values.get("enrolment");
  const expired = { failure: { kind: "expired" }, status: 403 } as const;
  const opened = openTotpEnrolment(deps.seals, enrolment, enrolmentBinding(deps, visit));
  if (!opened) return showSetup(deps, visit, expired);
  const code = readTotpCode(values.get("code") ?? "");
  const step = code === undefined ? undefined : await matchingStep(opened.secret, code, deps.clock());
  const text = visit.messages.enrolment.totp;
  if (step === undefined)
    return showSetup(deps, visit, { enrolment, ...refusal(422, text.wrong, text.wrongCode) });
  const codes = await enrolAndStepUp(deps, visit, visit.signedIn, {
    amr: codeAmr.totp,
    acr: methodAcr.totp,
    use: (tx) => confirmTotp(deps, tx, factorChange(visit), { secret: opened.secret, step }),
  });
  return codes ? finishChange(visit, codes, "totpAdded") : showSetup(deps, visit, expired);
}

async function showRemoval(deps: AccountDeps, visit: AccountVisit, again?: Refusal): Promise<void> {
  const frame = changeFrame(deps, visit);
  const text = frame.messages.security.totp;
  const page = confirmPage({
    ...frame,
    heading: text.removeHeading,
    text: text.removeText,
    confirm: text.remove,
    failure: again?.failure,
  });
  return show(visit, frame, page, again?.status);
}

async function remove(deps: AccountDeps, visit: AccountVisit): Promise<void> {
  try {
    await removeTotp(deps, factorChange(visit));
  } catch (error) {
    const refused = lastFactorRefusal(visit, error);
    if (!refused) throw error;
    return showRemoval(deps, visit, refused);
  }
  return backToSecurity(visit, "totpRemoved");
}
