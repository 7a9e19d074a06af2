/** account/security/authenticator: an authenticator app is set up or replaced; …/removal: it is removed. */

import type { FastifyInstance } from "fastify";
import { confirmTotp, LastFactor, removeTotp } from "../../../core/second-factors/changes.ts";
import { acrOfMethod, codeAmr } from "../../../core/second-factors/factor-proof.ts";
import { ownerOf } from "../../../core/second-factors/factor-status.ts";
import {
  beginTotpEnrolment,
  openTotpEnrolment,
  rebindTotpEnrolment,
} from "../../../core/second-factors/totp/enrolment.ts";
import { findTotp } from "../../../core/second-factors/totp/totp.store.ts";
import { matchingStep, readTotpCode, totpUri } from "../../../core/second-factors/totp/totp.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { qrCode } from "../../../html/components/qr-code.ts";
import { copyScript } from "../../../html/scripts.ts";
import type { Rejection, SentForm } from "../../../page-kit/accept-form.ts";
import { show, type Visit } from "../../../page-kit/page.ts";
import { acceptAccountForm, askForIdentity } from "../account-form.ts";
import { type AccountDeps, accountRoute, changeOf, requireRecentChanger } from "../account-page.ts";
import { authenticatorPage, confirmPage } from "../change.page.ts";
import { backWith, changeFrame, changePath, finish, notTakenTexts } from "../change.ts";
import { useAndRaise } from "../raise-session.ts";

const SETUP = "authenticator";
const REMOVAL = "authenticator/removal";

export function authenticatorRoutes(app: FastifyInstance, deps: AccountDeps): void {
  accountRoute(app, deps, "/oauth/:org/account/security/authenticator", {
    get: async (visit) => {
      const signedIn = await requireRecentChanger(deps, visit, changePath(visit, SETUP));
      await showSetup(deps, visit, signedIn);
    },
    post: (visit) => setUp(deps, visit),
  });
  accountRoute(app, deps, "/oauth/:org/account/security/authenticator/removal", {
    get: async (visit) => {
      const signedIn = await requireRecentChanger(deps, visit, changePath(visit, REMOVAL));
      await showRemoval(deps, visit, signedIn);
    },
    post: (visit) => remove(deps, visit),
  });
}

interface Shown {
  /** The sealed secret that the last page had. */
  readonly enrolment?: string | undefined;
  readonly failure?: Rejection | "wrong-code" | undefined;
}

async function showSetup(
  deps: AccountDeps,
  visit: Visit,
  signedIn: SignedIn,
  shown: Shown = {},
): Promise<void> {
  const { organisation } = visit;
  const { user } = signedIn;
  const binding = bindingOf(deps, visit, signedIn);
  const enrolment =
    openTotpEnrolment(deps.seals, shown.enrolment, binding) ??
    (await beginTotpEnrolment(deps.seals, binding));
  const { secret } = enrolment;
  const uri = await totpUri({ issuer: organisation.name, label: user.email, secret });
  const frame = changeFrame(deps, visit, signedIn, SETUP);
  const text = frame.messages.enrolment;
  const failures = {
    ...notTakenTexts(frame),
    "wrong-code": { title: text.totp.wrong, text: text.totp.wrongCode },
  };
  const page = authenticatorPage({
    ...frame,
    setup: { qr: await qrCode(uri), uri, key: secret },
    enrolment: enrolment.sealed,
    replaces: (await findTotp(deps.database.query, ownerOf(user))) !== undefined,
    script: copyScript.path,
    failure: shown.failure && failures[shown.failure],
  });
  return show(
    visit,
    frame,
    page,
    shown.failure === undefined ? 200 : shown.failure in notTakenTexts(frame) ? 403 : 422,
  );
}

function bindingOf(deps: AccountDeps, visit: Visit, { user }: SignedIn) {
  const { browser } = deps.browserSession.formBinding(visit);
  return { owner: ownerOf(user), browser, now: deps.clock() };
}

/** Stands in for the browser's token, which is another one after a new sign-in: the app has the key already. */
const WAITING = "waiting:";
const both = { from: WAITING, to: WAITING };

/** The key of a form, made for this browser and for no other where nothing else is said. */
function rebound(
  deps: AccountDeps,
  visit: Visit,
  { signedIn, values }: SentForm,
  { from, to }: { from?: string; to?: string },
): string | undefined {
  const here = bindingOf(deps, visit, signedIn);
  const made = { ...here, browser: from ?? here.browser };
  return rebindTotpEnrolment(deps.seals, values.get("enrolment"), made, to ?? here.browser);
}

async function setUp(deps: AccountDeps, visit: Visit): Promise<void> {
  const secrets = ["enrolment", "code"];
  const form = await acceptAccountForm(deps, visit, changePath(visit, SETUP), { secrets });
  if (form.outcome === "reauthenticate") {
    const waiting = rebound(deps, visit, form, { to: WAITING }) ?? rebound(deps, visit, form, both);
    const carried: Record<string, string> = waiting === undefined ? {} : { enrolment: waiting };
    return askForIdentity(deps, visit, form, { secrets, carried });
  }
  const { signedIn, values } = form;
  const enrolment = values.get("enrolment");
  if (form.outcome === "rejected") {
    const failure = form.refusal.failure?.kind;
    if (failure !== undefined) return showSetup(deps, visit, signedIn, { enrolment, failure });
    // Only a form that has waited here has shown that its key is this user's.
    return showSetup(deps, visit, signedIn, { enrolment: rebound(deps, visit, form, { from: WAITING }) });
  }
  const opened = openTotpEnrolment(deps.seals, enrolment, bindingOf(deps, visit, signedIn));
  if (!opened) return showSetup(deps, visit, signedIn, { failure: "expired" });
  const code = readTotpCode(values.get("code") ?? "");
  const step = code === undefined ? undefined : await matchingStep(opened.secret, code, deps.clock());
  if (step === undefined) return showSetup(deps, visit, signedIn, { enrolment, failure: "wrong-code" });
  const codes = await useAndRaise(deps, visit, signedIn, {
    amr: codeAmr.totp,
    acr: acrOfMethod.totp,
    use: (tx) => confirmTotp(deps, tx, changeOf(visit, signedIn), { secret: opened.secret, step }),
  });
  if (!codes) return showSetup(deps, visit, signedIn, { failure: "expired" });
  return finish(visit, signedIn, codes, "totpAdded");
}

async function showRemoval(
  deps: AccountDeps,
  visit: Visit,
  signedIn: SignedIn,
  failed?: Rejection | "last-factor" | undefined,
): Promise<void> {
  const frame = changeFrame(deps, visit, signedIn, REMOVAL);
  const { security } = frame.messages;
  const text = security.totp;
  const failures = {
    ...notTakenTexts(frame),
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
    failure: failed && failures[failed],
  });
  return show(visit, frame, page, failed === undefined ? 200 : failed in notTakenTexts(frame) ? 403 : 409);
}

async function remove(deps: AccountDeps, visit: Visit): Promise<void> {
  const form = await acceptAccountForm(deps, visit, changePath(visit, REMOVAL));
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn } = form;
  if (form.outcome === "rejected") return showRemoval(deps, visit, signedIn, form.refusal.failure?.kind);
  try {
    await removeTotp(deps, changeOf(visit, signedIn));
  } catch (error) {
    if (!(error instanceof LastFactor)) throw error;
    return showRemoval(deps, visit, signedIn, "last-factor");
  }
  return backWith(visit, "totpRemoved");
}
