/** account/security/authenticator: sets up or replaces the authenticator app; …/removal: removes it. */

import type { FastifyInstance } from "fastify";
import { confirmTotp, LastFactor, removeTotp } from "../../../core/second-factors/changes.ts";
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
import type { SignedIn } from "../../../core/sessions/session.ts";
import { qrCode } from "../../../html/components/qr-code.ts";
import { copyScript } from "../../../html/scripts.ts";
import type { Rejection, SentForm } from "../../../page-kit/accept-form.ts";
import { show, type Visit } from "../../../page-kit/page.ts";
import { acceptAccountForm, askForIdentity } from "../account-form.ts";
import { type AccountDeps, accountRoute, factorChange, requireRecentSignIn } from "../account-page.ts";
import { authenticatorPage, confirmPage } from "../change.page.ts";
import { backToSecurity, changeFrame, changePath, finishChange, rejectionTexts } from "../change.ts";
import { enrolAndStepUp } from "../raise-session.ts";

const SETUP = "authenticator";
const REMOVAL = "authenticator/removal";

export function authenticatorRoutes(app: FastifyInstance, deps: AccountDeps): void {
  accountRoute(app, deps, "/oauth/:org/account/security/authenticator", {
    get: async (visit) => {
      const signedIn = await requireRecentSignIn(deps, visit, changePath(visit, SETUP));
      await showSetup(deps, visit, signedIn);
    },
    post: (visit) => setUp(deps, visit),
  });
  accountRoute(app, deps, "/oauth/:org/account/security/authenticator/removal", {
    get: async (visit) => {
      const signedIn = await requireRecentSignIn(deps, visit, changePath(visit, REMOVAL));
      await showRemoval(deps, visit, signedIn);
    },
    post: (visit) => remove(deps, visit),
  });
}

interface SetupState {
  /** The encrypted secret of the previous page. */
  readonly enrolment?: string | undefined;
  readonly failure?: Rejection | "wrong-code" | undefined;
}

async function showSetup(
  deps: AccountDeps,
  visit: Visit,
  signedIn: SignedIn,
  state: SetupState = {},
): Promise<void> {
  const { organisation } = visit;
  const { user } = signedIn;
  const binding = enrolmentBinding(deps, visit, signedIn);
  const enrolment =
    openTotpEnrolment(deps.seals, state.enrolment, binding) ??
    (await beginTotpEnrolment(deps.seals, binding));
  const { secret } = enrolment;
  const uri = await totpUri({ issuer: organisation.name, label: user.email, secret });
  const frame = changeFrame(deps, visit, signedIn, SETUP);
  const text = frame.messages.enrolment;
  const failures = {
    ...rejectionTexts(frame),
    "wrong-code": { title: text.totp.wrong, text: text.totp.wrongCode },
  };
  const page = authenticatorPage({
    ...frame,
    setup: { qr: await qrCode(uri), uri, key: secret },
    enrolment: enrolment.sealed,
    replaces: (await findTotp(deps.database.query, factorOwner(user))) !== undefined,
    script: copyScript.path,
    failure: state.failure && failures[state.failure],
  });
  return show(
    visit,
    frame,
    page,
    state.failure === undefined ? 200 : state.failure in rejectionTexts(frame) ? 403 : 422,
  );
}

function enrolmentBinding(deps: AccountDeps, visit: Visit, { user }: SignedIn) {
  const { browser } = deps.browserSession.formBinding(visit);
  return { owner: factorOwner(user), browser, now: deps.clock() };
}

/** Binds the enrolment of a waiting form instead of the session's token, which changes when the user reauthenticates. */
const WAITING = "waiting:";

/** Rebinds the form's encrypted secret, by default from and to the current browser. */
function rebindEnrolment(
  deps: AccountDeps,
  visit: Visit,
  { signedIn, values }: SentForm,
  { from, to }: { from?: string; to?: string },
): string | undefined {
  const binding = enrolmentBinding(deps, visit, signedIn);
  const previous = { ...binding, browser: from ?? binding.browser };
  return rebindTotpEnrolment(deps.seals, values.get("enrolment"), previous, to ?? binding.browser);
}

async function setUp(deps: AccountDeps, visit: Visit): Promise<void> {
  const secrets = ["enrolment", "code"];
  const form = await acceptAccountForm(deps, visit, changePath(visit, SETUP), { secrets });
  if (form.outcome === "reauthenticate") {
    const waiting =
      rebindEnrolment(deps, visit, form, { to: WAITING }) ??
      rebindEnrolment(deps, visit, form, { from: WAITING, to: WAITING });
    const carried: Record<string, string> = waiting === undefined ? {} : { enrolment: waiting };
    return askForIdentity(deps, visit, form, { secrets, carried });
  }
  const { signedIn, values } = form;
  const enrolment = values.get("enrolment");
  if (form.outcome === "rejected") {
    const failure = form.refusal.failure?.kind;
    if (failure !== undefined) return showSetup(deps, visit, signedIn, { enrolment, failure });
    // Only a form that waited has proven that its secret is this user's.
    return showSetup(deps, visit, signedIn, {
      enrolment: rebindEnrolment(deps, visit, form, { from: WAITING }),
    });
  }
  const opened = openTotpEnrolment(deps.seals, enrolment, enrolmentBinding(deps, visit, signedIn));
  if (!opened) return showSetup(deps, visit, signedIn, { failure: "expired" });
  const code = readTotpCode(values.get("code") ?? "");
  const step = code === undefined ? undefined : await matchingStep(opened.secret, code, deps.clock());
  if (step === undefined) return showSetup(deps, visit, signedIn, { enrolment, failure: "wrong-code" });
  const codes = await enrolAndStepUp(deps, visit, signedIn, {
    amr: codeAmr.totp,
    acr: methodAcr.totp,
    use: (tx) => confirmTotp(deps, tx, factorChange(visit, signedIn), { secret: opened.secret, step }),
  });
  if (!codes) return showSetup(deps, visit, signedIn, { failure: "expired" });
  return finishChange(visit, signedIn, codes, "totpAdded");
}

async function showRemoval(
  deps: AccountDeps,
  visit: Visit,
  signedIn: SignedIn,
  failure?: Rejection | "last-factor" | undefined,
): Promise<void> {
  const frame = changeFrame(deps, visit, signedIn, REMOVAL);
  const { security } = frame.messages;
  const text = security.totp;
  const failures = {
    ...rejectionTexts(frame),
    "last-factor": {
      title: security.lastFactor,
      text: security.lastFactorText({ organisation: visit.organisation.name }),
    },
  };
  const page = confirmPage({
    ...frame,
    heading: text.removeHeading,
    text: text.removeText,
    confirm: text.remove,
    failure: failure && failures[failure],
  });
  return show(visit, frame, page, failure === undefined ? 200 : failure in rejectionTexts(frame) ? 403 : 409);
}

async function remove(deps: AccountDeps, visit: Visit): Promise<void> {
  const form = await acceptAccountForm(deps, visit, changePath(visit, REMOVAL));
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn } = form;
  if (form.outcome === "rejected") return showRemoval(deps, visit, signedIn, form.refusal.failure?.kind);
  try {
    await removeTotp(deps, factorChange(visit, signedIn));
  } catch (error) {
    if (!(error instanceof LastFactor)) throw error;
    return showRemoval(deps, visit, signedIn, "last-factor");
  }
  return backToSecurity(visit, "totpRemoved");
}
