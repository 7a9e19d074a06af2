/** account/security/passkeys: a passkey is added; account/security/passkey?id=…: it is named or removed. */

import type { RegistrationResponseJSON } from "@simplewebauthn/server";
import type { FastifyInstance } from "fastify";
import { show, type Visit } from "../../console/visit.ts";
import {
  addPasskey,
  changePasskeyName,
  LastFactor,
  removePasskey,
} from "../../core/second-factors/changes.ts";
import { acrOfMethod, passkeyAmr } from "../../core/second-factors/factor-proof.ts";
import { takeChallenge } from "../../core/second-factors/passkeys/challenge.ts";
import { MOST_PASSKEYS, type Passkey, passkeyName } from "../../core/second-factors/passkeys/passkey.ts";
import {
  creationOptions,
  readPasskeyAnswer,
  verifyNewPasskey,
} from "../../core/second-factors/passkeys/passkeys.ts";
import { findPasskey, listPasskeys } from "../../core/second-factors/passkeys/store.ts";
import { ownerOf } from "../../core/second-factors/standing.ts";
import { FRESH_SIGN_IN_MS, type SignedIn } from "../../core/sessions/session.ts";
import { passkeyScript } from "../../html/scripts.ts";
import { NotFound } from "../../http/errors.ts";
import { formOf, queryOf } from "../../http/form-body.ts";
import { type AccountDeps, accountRoute, changeOf, mayChange } from "./account-page.ts";
import { newPasskeyPage, passkeyPage } from "./change.page.ts";
import { backWith, changeFrame, changePath, expired, finish } from "./change.ts";
import { useAndRaise } from "./raise-session.ts";

const NEW = "passkeys";
const ONE = "passkey";

export function passkeyRoutes(app: FastifyInstance, deps: AccountDeps): void {
  accountRoute(app, deps, `security/${NEW}`, {
    get: async (visit) => {
      const signedIn = await mayChange(deps, visit, changePath(visit, NEW));
      if (signedIn) await showNew(deps, visit, signedIn);
    },
    post: async (visit) => {
      const signedIn = await mayChange(deps, visit, changePath(visit, NEW));
      if (signedIn) await add(deps, visit, signedIn);
    },
  });
  accountRoute(app, deps, `security/${ONE}`, {
    get: (visit) => withPasskey(deps, visit, queryOf(visit.request).values.get("id"), showOne),
    post: (visit) => withPasskey(deps, visit, formOf(visit.request).values.get("id"), change),
  });
}

type AddFailure = "expired" | "not-added" | "known" | "too-many";

async function showNew(
  deps: AccountDeps,
  visit: Visit,
  signedIn: SignedIn,
  failed?: AddFailure,
): Promise<void> {
  const { user } = signedIn;
  const existing = await listPasskeys(deps.database.query, ownerOf(user));
  const failure = existing.length >= MOST_PASSKEYS ? "too-many" : failed;
  const frame = changeFrame(deps, visit, signedIn, NEW);
  const text = frame.messages.enrolment.passkey;
  const failures = {
    expired: expired(frame),
    "not-added": { title: text.wrong, text: text.notAdded },
    known: { title: text.wrong, text: text.known },
    "too-many": { title: text.wrong, text: text.tooMany },
  };
  const challenge = deps.challenges.issue(purposeOf(deps, visit, signedIn), deps.clock() + FRESH_SIGN_IN_MS);
  const { name: organisationName } = visit.organisation;
  const { relyingParty } = deps;
  const page = newPasskeyPage({
    ...frame,
    options: JSON.stringify(creationOptions({ relyingParty, challenge, user, organisationName, existing })),
    name: formOf(visit.request).values.get("name") ?? text.suggestedName,
    script: passkeyScript.path,
    failure: failure && failures[failure],
  });
  return show(visit, frame, page, failure === undefined ? 200 : failure === "expired" ? 403 : 422);
}

function purposeOf(deps: AccountDeps, visit: Visit, { user }: SignedIn) {
  const { browser } = deps.door.formBinding(visit);
  return { orgId: visit.organisation.id, use: "registration", browser, userId: user.id } as const;
}

async function add(deps: AccountDeps, visit: Visit, signedIn: SignedIn): Promise<void> {
  const { values } = formOf(visit.request);
  const answer = readPasskeyAnswer<RegistrationResponseJSON>(values.get("passkey"));
  const now = deps.clock();
  const isOurs = answer && deps.challenges.isGenuine(answer.challenge, purposeOf(deps, visit, signedIn), now);
  if (!deps.door.isOwnForm(visit, values.get("csrf")) || (answer && !isOurs))
    return showNew(deps, visit, signedIn, "expired");
  const { relyingParty } = deps;
  const name = passkeyName(values.get("name") ?? "") ?? visit.organisation.name;
  const verified = answer && (await verifyNewPasskey(answer, { relyingParty, name, now }));
  if (!answer || !verified) return showNew(deps, visit, signedIn, "not-added");
  const existing = await listPasskeys(deps.database.query, ownerOf(signedIn.user));
  if (existing.length >= MOST_PASSKEYS) return showNew(deps, visit, signedIn, "too-many");
  const codes = await useAndRaise(deps, visit, signedIn, {
    amr: passkeyAmr(verified.use),
    acr: acrOfMethod.passkey,
    use: async (tx) =>
      (await takeChallenge(tx, visit.organisation.id, answer.challenge))
        ? addPasskey(deps, tx, changeOf(visit, signedIn), verified.passkey)
        : undefined,
  });
  return codes ? finish(visit, signedIn, codes, "passkeyAdded") : showNew(deps, visit, signedIn, "known");
}

type OnPasskey = (deps: AccountDeps, visit: Visit, signedIn: SignedIn, passkey: Passkey) => Promise<void>;

/** Only the user's own: another's is not there. */
async function withPasskey(
  deps: AccountDeps,
  visit: Visit,
  id: string | undefined,
  work: OnPasskey,
): Promise<void> {
  const path = changePath(visit, `${ONE}?id=${encodeURIComponent(id ?? "")}`);
  const signedIn = await mayChange(deps, visit, path);
  if (!signedIn) return;
  const passkey =
    id === undefined ? undefined : await findPasskey(deps.database.query, ownerOf(signedIn.user), id);
  if (!passkey) throw new NotFound("passkey");
  await work(deps, visit, signedIn, passkey);
}

const showOne: OnPasskey = (deps, visit, signedIn, passkey) => showPasskey(deps, visit, signedIn, passkey);

async function showPasskey(
  deps: AccountDeps,
  visit: Visit,
  signedIn: SignedIn,
  { id, name }: Passkey,
  failed?: "expired" | "bad-name" | "last-factor",
): Promise<void> {
  const frame = changeFrame(deps, visit, signedIn, ONE);
  const text = frame.messages.security;
  const failures = {
    expired: expired(frame),
    "bad-name": { title: text.passkeys.name, text: text.passkeys.badName },
    "last-factor": { title: text.lastFactor, text: text.lastFactorText(visit.organisation.name) },
  };
  const statuses = { expired: 403, "bad-name": 422, "last-factor": 409 };
  const page = passkeyPage({ ...frame, id, name, failure: failed && failures[failed] });
  return show(visit, frame, page, failed === undefined ? 200 : statuses[failed]);
}

const change: OnPasskey = async (deps, visit, signedIn, passkey) => {
  const { values } = formOf(visit.request);
  if (!deps.door.isOwnForm(visit, values.get("csrf")))
    return showPasskey(deps, visit, signedIn, passkey, "expired");
  const changed = changeOf(visit, signedIn);
  if (values.get("change") === "name") {
    const name = passkeyName(values.get("name") ?? "");
    if (name === undefined) return showPasskey(deps, visit, signedIn, passkey, "bad-name");
    await changePasskeyName(deps, changed, { id: passkey.id, name });
    return backWith(visit, "passkeyRenamed");
  }
  if (values.get("change") !== "removal") return showPasskey(deps, visit, signedIn, passkey);
  try {
    await removePasskey(deps, changed, passkey.id);
  } catch (error) {
    if (!(error instanceof LastFactor)) throw error;
    return showPasskey(deps, visit, signedIn, passkey, "last-factor");
  }
  return backWith(visit, "passkeyRemoved");
};
