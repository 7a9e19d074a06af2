/** account/security/passkeys: adds a passkey; account/security/passkey?id=…: renames or removes one. */

import type { RegistrationResponseJSON } from "@simplewebauthn/server";
import type { FastifyInstance } from "fastify";
import { addPasskey, changePasskeyName, removePasskey } from "../../../core/second-factors/changes.ts";
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
import { FRESH_SIGN_IN_MS } from "../../../core/sessions/session.ts";
import { passkeyScript } from "../../../html/scripts.ts";
import { NotFound } from "../../../http/errors.ts";
import { parsedForm } from "../../../http/form-body.ts";
import type { AcceptedForm, Refusal } from "../../../page-kit/accept-form.ts";
import { show } from "../../../page-kit/page.ts";
import { accountRoute, recordPath, requestedId } from "../account-form.ts";
import { type AccountDeps, type AccountVisit, factorChange, refusal, whereOffered } from "../account-page.ts";
import { newPasskeyPage, passkeyPage } from "../change.page.ts";
import { backToSecurity, changeFrame, finishChange, lastFactorRefusal } from "../change.ts";
import { enrolAndStepUp } from "../raise-session.ts";

export function passkeyRoutes(app: FastifyInstance, deps: AccountDeps): void {
  accountRoute(app, deps, "/oauth/:org/account/security/passkeys", {
    ...whereOffered("passkey"),
    secrets: ["passkey"],
    show: (_, visit, rejected) => showNewPasskey(deps, visit, rejected?.refusal),
    submit: enrolPasskey,
  });
  accountRoute(app, deps, "/oauth/:org/account/security/passkey", {
    returnTo: recordPath,
    show: async (_, visit, rejected) =>
      showPasskey(deps, visit, await ownPasskey(deps, visit), rejected?.refusal),
    submit: changePasskey,
  });
}

async function showNewPasskey(
  deps: AccountDeps,
  visit: AccountVisit,
  again: Partial<Refusal> = {},
): Promise<void> {
  const { user, organisation } = visit;
  const existing = await listPasskeys(deps.database.query, factorOwner(user));
  const frame = changeFrame(deps, visit);
  const text = frame.messages.enrolment.passkey;
  const { failure, status } =
    existing.length >= MAX_PASSKEYS ? refusal(422, text.wrong, text.tooMany) : again;
  const expiresAt = deps.clock() + FRESH_SIGN_IN_MS;
  const challenge = deps.challenges.issue(challengePurpose(deps, visit), expiresAt);
  const { name: organisationName } = organisation;
  const { relyingParty } = deps;
  const page = newPasskeyPage({
    ...frame,
    options: JSON.stringify(creationOptions({ relyingParty, challenge, user, organisationName, existing })),
    name: parsedForm(visit.request).values.get("name") ?? text.suggestedName,
    script: passkeyScript.path,
    failure,
  });
  return show(visit, frame, page, status);
}

function challengePurpose(deps: AccountDeps, visit: AccountVisit) {
  const { browser } = deps.browserSession.formBinding(visit);
  return { orgId: visit.organisation.id, use: "registration", browser, userId: visit.user.id } as const;
}

async function enrolPasskey(deps: AccountDeps, visit: AccountVisit, { values }: AcceptedForm): Promise<void> {
  const { relyingParty } = deps;
  const { organisation, user, messages, signedIn } = visit;
  const text = messages.enrolment.passkey;
  const answer = readPasskeyAnswer<RegistrationResponseJSON>(values.get("passkey"));
  const now = deps.clock();
  const isOurs = answer && deps.challenges.isGenuine(answer.challenge, challengePurpose(deps, visit), now);
  if (answer && !isOurs) return showNewPasskey(deps, visit, { failure: { kind: "expired" }, status: 403 });
  const name = passkeyName(values.get("name") ?? "") ?? organisation.name;
  const verified = answer && (await verifyNewPasskey(answer, { relyingParty, name, now }));
  if (!answer || !verified) return showNewPasskey(deps, visit, refusal(422, text.wrong, text.notAdded));
  const existing = await listPasskeys(deps.database.query, factorOwner(user));
  if (existing.length >= MAX_PASSKEYS) return showNewPasskey(deps, visit);
  const codes = await enrolAndStepUp(deps, visit, signedIn, {
    amr: passkeyAmr(verified.use),
    acr: methodAcr.passkey,
    use: async (tx) =>
      (await consumeChallenge(tx, organisation.id, answer.challenge))
        ? addPasskey(deps, tx, factorChange(visit), verified.passkey)
        : undefined,
  });
  return codes
    ? finishChange(visit, codes, "passkeyAdded")
    : showNewPasskey(deps, visit, refusal(422, text.wrong, text.known));
}

/** @throws NotFound, also for another user's passkey */
async function ownPasskey(deps: AccountDeps, visit: AccountVisit): Promise<Passkey> {
  const id = requestedId(visit);
  const passkey = id !== undefined && (await findPasskey(deps.database.query, factorOwner(visit.user), id));
  if (!passkey) throw new NotFound("passkey");
  return passkey;
}

async function showPasskey(
  deps: AccountDeps,
  visit: AccountVisit,
  { id, name }: Passkey,
  again?: Refusal,
): Promise<void> {
  const frame = changeFrame(deps, visit);
  const input = again?.failure && parsedForm(visit.request).values.get("name");
  const page = passkeyPage({ ...frame, id, name, input: input ?? name, failure: again?.failure });
  return show(visit, frame, page, again?.status);
}

async function changePasskey(
  deps: AccountDeps,
  visit: AccountVisit,
  { values }: AcceptedForm,
): Promise<void> {
  const passkey = await ownPasskey(deps, visit);
  const text = visit.messages.security.passkeys;
  if (values.get("change") === "name") {
    const name = passkeyName(values.get("name") ?? "");
    if (name === undefined) return showPasskey(deps, visit, passkey, refusal(422, text.name, text.badName));
    await changePasskeyName(deps, factorChange(visit), { id: passkey.id, name });
    return backToSecurity(visit, "passkeyRenamed");
  }
  if (values.get("change") !== "removal") return showPasskey(deps, visit, passkey);
  try {
    await removePasskey(deps, factorChange(visit), passkey.id);
  } catch (error) {
    const refused = lastFactorRefusal(visit, error);
    if (!refused) throw error;
    return showPasskey(deps, visit, passkey, refused);
  }
  return backToSecurity(visit, "passkeyRemoved");
}
