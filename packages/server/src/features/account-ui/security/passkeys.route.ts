/** account/security/passkeys: adds a passkey; account/security/passkey?id=…: renames or removes one. */

import type { RegistrationResponseJSON } from "@simplewebauthn/server";
import type { FastifyInstance } from "fastify";
import {
  addPasskey,
  changePasskeyName,
  LastFactor,
  removePasskey,
} from "../../../core/second-factors/changes.ts";
import { factorOwner } from "../../../core/second-factors/factor-status.ts";
import { consumeChallenge } from "../../../core/second-factors/passkeys/challenge.ts";
import { findPasskey, listPasskeys } from "../../../core/second-factors/passkeys/passkeys.store.ts";
import {
  creationOptions,
  MAX_PASSKEYS,
  type Passkey,
  passkeyName,
  readPasskeyAnswer,
  verifyNewPasskey,
} from "../../../core/second-factors/passkeys/passkeys.ts";
import { methodAcr, passkeyAmr } from "../../../core/second-factors/second-factor.ts";
import { FRESH_SIGN_IN_MS, type SignedIn } from "../../../core/sessions/session.ts";
import { passkeyScript } from "../../../html/scripts.ts";
import { NotFound } from "../../../http/errors.ts";
import { parsedForm, parseQuery } from "../../../http/form-body.ts";
import type { Rejection } from "../../../page-kit/accept-form.ts";
import { show, type Visit } from "../../../page-kit/page.ts";
import { acceptAccountForm, askForIdentity } from "../account-form.ts";
import { type AccountDeps, accountRoute, factorChange, requireRecentSignIn } from "../account-page.ts";
import { newPasskeyPage, passkeyPage } from "../change.page.ts";
import { backToSecurity, changeFrame, changePath, finishChange, rejectionTexts } from "../change.ts";
import { enrolAndStepUp } from "../raise-session.ts";

const NEW = "passkeys";
const ONE = "passkey";

export function passkeyRoutes(app: FastifyInstance, deps: AccountDeps): void {
  accountRoute(app, deps, "/oauth/:org/account/security/passkeys", {
    get: async (visit) => {
      const signedIn = await requireRecentSignIn(deps, visit, changePath(visit, NEW));
      await showNewPasskey(deps, visit, signedIn);
    },
    post: (visit) => enrolPasskey(deps, visit),
  });
  accountRoute(app, deps, "/oauth/:org/account/security/passkey", {
    get: async (visit) => {
      const id = parseQuery(visit.request).values.get("id");
      const signedIn = await requireRecentSignIn(deps, visit, passkeyPath(visit, id));
      await showPasskey(deps, visit, signedIn, await ownPasskey(deps, signedIn, id));
    },
    post: (visit) => changePasskey(deps, visit),
  });
}

type AddFailure = Rejection | "not-added" | "known" | "too-many";

async function showNewPasskey(
  deps: AccountDeps,
  visit: Visit,
  signedIn: SignedIn,
  failed?: AddFailure | undefined,
): Promise<void> {
  const { user } = signedIn;
  const existing = await listPasskeys(deps.database.query, factorOwner(user));
  const failure = existing.length >= MAX_PASSKEYS ? "too-many" : failed;
  const frame = changeFrame(deps, visit, signedIn, NEW);
  const text = frame.messages.enrolment.passkey;
  const failures = {
    ...rejectionTexts(frame),
    "not-added": { title: text.wrong, text: text.notAdded },
    known: { title: text.wrong, text: text.known },
    "too-many": { title: text.wrong, text: text.tooMany },
  };
  const challenge = deps.challenges.issue(
    challengePurpose(deps, visit, signedIn),
    deps.clock() + FRESH_SIGN_IN_MS,
  );
  const { name: organisationName } = visit.organisation;
  const { relyingParty } = deps;
  const page = newPasskeyPage({
    ...frame,
    options: JSON.stringify(creationOptions({ relyingParty, challenge, user, organisationName, existing })),
    name: parsedForm(visit.request).values.get("name") ?? text.suggestedName,
    script: passkeyScript.path,
    failure: failure && failures[failure],
  });
  return show(visit, frame, page, failure === undefined ? 200 : failure in rejectionTexts(frame) ? 403 : 422);
}

function challengePurpose(deps: AccountDeps, visit: Visit, { user }: SignedIn) {
  const { browser } = deps.browserSession.formBinding(visit);
  return { orgId: visit.organisation.id, use: "registration", browser, userId: user.id } as const;
}

async function enrolPasskey(deps: AccountDeps, visit: Visit): Promise<void> {
  const secrets = ["passkey"];
  const form = await acceptAccountForm(deps, visit, changePath(visit, NEW), { secrets });
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form, { secrets });
  const { signedIn, values } = form;
  if (form.outcome === "rejected") return showNewPasskey(deps, visit, signedIn, form.refusal.failure?.kind);
  const answer = readPasskeyAnswer<RegistrationResponseJSON>(values.get("passkey"));
  const now = deps.clock();
  const isOurs =
    answer && deps.challenges.isGenuine(answer.challenge, challengePurpose(deps, visit, signedIn), now);
  if (answer && !isOurs) return showNewPasskey(deps, visit, signedIn, "expired");
  const { relyingParty } = deps;
  const name = passkeyName(values.get("name") ?? "") ?? visit.organisation.name;
  const verified = answer && (await verifyNewPasskey(answer, { relyingParty, name, now }));
  if (!answer || !verified) return showNewPasskey(deps, visit, signedIn, "not-added");
  const existing = await listPasskeys(deps.database.query, factorOwner(signedIn.user));
  if (existing.length >= MAX_PASSKEYS) return showNewPasskey(deps, visit, signedIn, "too-many");
  const codes = await enrolAndStepUp(deps, visit, signedIn, {
    amr: passkeyAmr(verified.use),
    acr: methodAcr.passkey,
    use: async (tx) =>
      (await consumeChallenge(tx, visit.organisation.id, answer.challenge))
        ? addPasskey(deps, tx, factorChange(visit, signedIn), verified.passkey)
        : undefined,
  });
  return codes
    ? finishChange(visit, signedIn, codes, "passkeyAdded")
    : showNewPasskey(deps, visit, signedIn, "known");
}

const passkeyPath = (visit: Visit, id: string | undefined): string =>
  changePath(visit, `${ONE}?id=${encodeURIComponent(id ?? "")}`);

/** @throws NotFound, also for another user's passkey */
async function ownPasskey(deps: AccountDeps, { user }: SignedIn, id: string | undefined): Promise<Passkey> {
  const passkey =
    id === undefined ? undefined : await findPasskey(deps.database.query, factorOwner(user), id);
  if (!passkey) throw new NotFound("passkey");
  return passkey;
}

async function showPasskey(
  deps: AccountDeps,
  visit: Visit,
  signedIn: SignedIn,
  { id, name }: Passkey,
  failed?: Rejection | "bad-name" | "last-factor" | undefined,
): Promise<void> {
  const frame = changeFrame(deps, visit, signedIn, ONE);
  const text = frame.messages.security;
  const failures = {
    ...rejectionTexts(frame),
    "bad-name": { title: text.passkeys.name, text: text.passkeys.badName },
    "last-factor": {
      title: text.lastFactor,
      text: text.lastFactorText({ organisation: visit.organisation.name }),
    },
  };
  const statuses = { expired: 403, unreadable: 403, "bad-name": 422, "last-factor": 409 };
  const input = failed === undefined ? undefined : parsedForm(visit.request).values.get("name");
  const page = passkeyPage({ ...frame, id, name, input: input ?? name, failure: failed && failures[failed] });
  return show(visit, frame, page, failed === undefined ? 200 : statuses[failed]);
}

async function changePasskey(deps: AccountDeps, visit: Visit): Promise<void> {
  const id = parsedForm(visit.request).values.get("id");
  const form = await acceptAccountForm(deps, visit, passkeyPath(visit, id));
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn, values } = form;
  const passkey = await ownPasskey(deps, signedIn, id);
  if (form.outcome === "rejected")
    return showPasskey(deps, visit, signedIn, passkey, form.refusal.failure?.kind);
  const changed = factorChange(visit, signedIn);
  if (values.get("change") === "name") {
    const name = passkeyName(values.get("name") ?? "");
    if (name === undefined) return showPasskey(deps, visit, signedIn, passkey, "bad-name");
    await changePasskeyName(deps, changed, { id: passkey.id, name });
    return backToSecurity(visit, "passkeyRenamed");
  }
  if (values.get("change") !== "removal") return showPasskey(deps, visit, signedIn, passkey);
  try {
    await removePasskey(deps, changed, passkey.id);
  } catch (error) {
    if (!(error instanceof LastFactor)) throw error;
    return showPasskey(deps, visit, signedIn, passkey, "last-factor");
  }
  return backToSecurity(visit, "passkeyRemoved");
}
