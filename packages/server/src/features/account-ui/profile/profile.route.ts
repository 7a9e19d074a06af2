/** account/profile: name, phone, language and optional details. Needs no recent authentication: nothing here grants access. */

import type { FastifyInstance } from "fastify";
import { lastChange } from "../../../core/audit/audit.store.ts";
import {
  changeProfile,
  type Profile,
  profileFaults,
  profileOf,
} from "../../../core/users/profile/profile.ts";
import { findMemberSince, findUser } from "../../../core/users/users.store.ts";
import { boundTo } from "../../../db/open.ts";
import { changedValues } from "../../../html/components/form-state.ts";
import type { FormFailure } from "../../../html/components/record-form.ts";
import { LOCALES } from "../../../html/messages/messages.ts";
import { NotFound } from "../../../http/errors.ts";
import { parseQuery } from "../../../http/form-body.ts";
import {
  type AcceptedForm,
  applyOnce,
  type Refusal,
  requireFreshNonce,
} from "../../../page-kit/accept-form.ts";
import { auditContext, redirectTo, show, type Visit } from "../../../page-kit/page.ts";
import { readDetailInput, toDetailInput, toDetails } from "../../../page-kit/profile-fields.ts";
import { requireVersion, VersionConflict, versionOf } from "../../../page-kit/record-version.ts";
import {
  forgetEdit,
  keptEdit,
  offerUndo,
  UNDO_FIELD,
  type UndoableEdit,
  undoneUri,
  undoOf,
} from "../../../page-kit/undo.ts";
import { accountRoute } from "../account-form.ts";
import {
  type AccountDeps,
  type AccountVisit,
  accountFormFrame,
  accountPath,
  isHomeUser,
  refusal,
} from "../account-page.ts";
import { actorText, isOwnAction } from "../actor-text.ts";
import { type ProfileField, type ProfileFields, profileLabels, profilePage } from "./profile.page.ts";

export function profileRoute(app: FastifyInstance, deps: AccountDeps): void {
  accountRoute(app, deps, "/oauth/:org/account/profile", {
    allowsGuests: true,
    redirectIfUnavailable: (_, visit) => (isHomeUser(visit) ? undefined : profilePath(visit)),
    show: (_, visit, rejected) =>
      showProfile(deps, visit, rejected && { ...readForm(rejected, visit), ...rejected.refusal }),
    submit: save,
  });
}

const profilePath = ({ organisation }: Pick<Visit, "organisation">): string =>
  accountPath(organisation, "profile");

interface FormState extends Partial<Refusal> {
  readonly input?: ProfileFields;
  readonly version?: string | undefined;
  readonly faults?: readonly ProfileField[];
  /** Current values of fields changed concurrently. */
  readonly now?: Partial<ProfileFields>;
}

const toFields = ({ firstname, surname, phone, locale, details }: Required<Profile>): ProfileFields => ({
  firstname,
  surname,
  phone: phone ?? "",
  locale: locale ?? "",
  ...toDetailInput(details),
});

async function showProfile(
  deps: AccountDeps,
  visit: AccountVisit,
  { status, ...state }: FormState = {},
): Promise<void> {
  const { organisation, user } = visit;
  const undo = undoOf(deps, visit, visit.signedIn, visit.messages);
  const frame = { ...accountFormFrame(deps, visit, "profile"), ...(undo && { undo }) };
  const current = profileOf(user);
  const home = isHomeUser(visit) ? undefined : await deps.organisations.find(user.homeOrgId);
  const page = profilePage({
    ...frame,
    ...state,
    version: state.version ?? versionOf(current),
    input: state.input ?? toFields(current),
    faults: state.faults ?? [],
    now: state.now ?? {},
    isDone: parseQuery(visit.request).values.get("done") === "saved",
    isConfirmed: user.emailVerified,
    changeAddressUri: deps.outbox.isOpen ? accountPath(organisation, "address") : undefined,
    membership: {
      role: user.role,
      permId: user.id,
      username: user.username ?? undefined,
      since: await findMemberSince(deps.database.query, user),
    },
    home: home && { name: home.name, uri: accountPath(home, "profile") },
  });
  return show(visit, frame, page, status);
}

function readForm({ values }: Pick<AcceptedForm, "values">, { user }: AccountVisit) {
  const text = (name: string) => (values.get(name) ?? "").trim().replace(/\s+/g, " ");
  const input: ProfileFields = {
    firstname: text("firstname"),
    surname: text("surname"),
    phone: text("phone"),
    locale: text("locale"),
    ...readDetailInput(values, toDetailInput(user.details)),
  };
  return { input, version: values.get("seen") };
}

async function save(deps: AccountDeps, visit: AccountVisit, form: AcceptedForm): Promise<void> {
  if (form.values.has(UNDO_FIELD)) return undo(deps, visit, form);
  const { messages } = visit;
  const { input, version } = readForm(form, visit);
  const profile = toProfile(input);
  const faults = findFaults(profile);
  if (faults.length > 0) {
    const labels = profileLabels(messages);
    const fields = faults.map((id) => ({ id, label: labels[id] }));
    const failure = { kind: "faults", fields } as const;
    return showProfile(deps, visit, { input, version, faults, failure, status: 400 });
  }
  const uri = `${profilePath(visit)}?done=saved`;
  try {
    const edit = await deps.database.transaction((tx) =>
      saveVersion({ ...deps, database: boundTo(deps.database, tx) }, visit, { profile, version, uri }),
    );
    if (edit) offerUndo(deps, visit, visit.signedIn, edit);
    else forgetEdit(deps, visit);
  } catch (error) {
    if (!(error instanceof VersionConflict)) throw error;
    return showConflict(deps, await asNow(deps, visit), input);
  }
  return redirectTo(visit, uri);
}

function toProfile(input: ProfileFields): Required<Profile> {
  const { firstname, surname, phone, locale } = input;
  return { firstname, surname, phone: phone || null, locale: locale || null, details: toDetails(input) };
}

/** @param inside bound to a transaction @returns the way back, where something has changed. @throws VersionConflict */
async function saveVersion(
  inside: AccountDeps,
  visit: AccountVisit,
  { profile, version, uri }: { profile: Profile; version: string | undefined; uri: string },
): Promise<UndoableEdit | undefined> {
  const { id } = visit.user;
  let before: ProfileFields | undefined;
  const check = (current: Required<Profile>) => {
    requireVersion(version, current);
    before = toFields(current);
  };
  await changeProfile(inside, { ...auditContext(visit, visit.signedIn), id, profile, check });
  const written = versionOf(profileOf((await asNow(inside, visit)).user));
  return written === version ? undefined : { recordId: id, before, written, uri, fields: [] };
}

async function asNow(deps: AccountDeps, visit: AccountVisit): Promise<AccountVisit> {
  const user = await findUser(deps.database.query, visit.organisation.id, visit.user.id);
  if (!user) throw new NotFound("user");
  return { ...visit, user };
}

/** Saves what was there before the last save of this page, unless anybody has saved something since (page-kit/undo.ts). */
async function undo(deps: AccountDeps, visit: AccountVisit, form: AcceptedForm): Promise<void> {
  const { title, text } = visit.messages.console.frame.notUndone;
  const refuse = async () => showProfile(deps, await asNow(deps, visit), refusal(409, title, text));
  const sent = requireFreshNonce(deps, visit, form);
  if (sent.outcome === "rejected") return showProfile(deps, visit, sent.refusal);
  const wanted = { once: sent.submissionToken.value, recordId: visit.user.id };
  const kept = keptEdit(deps, visit, visit.signedIn, wanted);
  if (!kept) return refuse();
  const profile = toProfile(kept.before as ProfileFields);
  // Of another program, whose rules were others.
  if (profileFaults(profile).length > 0) return refuse();
  try {
    const change = { profile, version: kept.written, uri: kept.uri };
    const saved = await applyOnce(deps, sent, (inside) => saveVersion(inside, visit, change));
    if (saved === "duplicate-submission") return refuse();
  } catch (error) {
    if (!(error instanceof VersionConflict)) throw error;
    return refuse();
  }
  forgetEdit(deps, visit);
  return redirectTo(visit, undoneUri(kept));
}

/** The locale must be one of the translations. */
const findFaults = (profile: Profile): readonly ProfileField[] => {
  const isKnown = profile.locale === null || LOCALES.includes(profile.locale);
  return isKnown ? profileFaults(profile) : [...profileFaults(profile), "locale"];
};

/** Shows the input beside the current values, for the user to decide. */
async function showConflict(deps: AccountDeps, visit: AccountVisit, input: ProfileFields): Promise<void> {
  return showProfile(deps, visit, {
    input,
    now: changedValues(input, toFields(profileOf(visit.user))),
    failure: await conflictFailure(deps, visit),
    status: 409,
  });
}

/** Names who changed the profile and when: often the same user in another window. */
async function conflictFailure(deps: AccountDeps, visit: AccountVisit): Promise<FormFailure> {
  const { organisation, user, messages } = visit;
  const change = await lastChange(deps.database.query, organisation.id, user.id);
  if (!change) return { kind: "changed" };
  const { actor, at } = change;
  if (!isOwnAction(actor, user))
    return { kind: "changed", by: { who: actorText(actor, user, messages), at } };
  const { changedByYou, changedByYouText } = messages.console.account.profile;
  return { kind: "refused", title: changedByYou, text: changedByYouText({ at }) };
}
