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
import { changedValues } from "../../../html/components/form-state.ts";
import type { FormFailure } from "../../../html/components/record-form.ts";
import { LOCALES } from "../../../html/messages/messages.ts";
import { parseQuery } from "../../../http/form-body.ts";
import type { AcceptedForm, Refusal } from "../../../page-kit/accept-form.ts";
import { auditContext, redirectTo, show, type Visit } from "../../../page-kit/page.ts";
import { readDetailInput, toDetailInput, toDetails } from "../../../page-kit/profile-fields.ts";
import { requireVersion, VersionConflict, versionOf } from "../../../page-kit/record-version.ts";
import { accountRoute } from "../account-form.ts";
import {
  type AccountDeps,
  type AccountVisit,
  accountFormFrame,
  accountPath,
  isHomeUser,
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
  const frame = accountFormFrame(deps, visit, "profile");
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
  const { user, messages } = visit;
  const { input, version } = readForm(form, visit);
  const { firstname, surname, phone, locale } = input;
  const person = { firstname, surname, phone: phone || null, locale: locale || null };
  const profile: Profile = { ...person, details: toDetails(input) };
  const faults = findFaults(profile);
  if (faults.length > 0) {
    const labels = profileLabels(messages);
    const fields = faults.map((id) => ({ id, label: labels[id] }));
    const failure = { kind: "faults", fields } as const;
    return showProfile(deps, visit, { input, version, faults, failure, status: 400 });
  }
  const target = { ...auditContext(visit, visit.signedIn), id: user.id };
  try {
    const check = (current: Required<Profile>) => requireVersion(version, current);
    await changeProfile(deps, { ...target, profile, check });
  } catch (error) {
    if (!(error instanceof VersionConflict)) throw error;
    const current = await findUser(deps.database.query, target.orgId, user.id);
    if (!current) throw error;
    return showConflict(deps, { ...visit, user: current }, input);
  }
  return redirectTo(visit, `${profilePath(visit)}?done=saved`);
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
