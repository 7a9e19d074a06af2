/** account/profile: name, phone and language. Needs no recent authentication: nothing here grants access. */

import type { FastifyInstance } from "fastify";
import { lastChange } from "../../../core/audit/audit.store.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import {
  changeProfile,
  type Profile,
  profileFaults,
  profileOf,
} from "../../../core/users/profile/profile.ts";
import type { User } from "../../../core/users/user.ts";
import { findMemberSince, findUser } from "../../../core/users/users.store.ts";
import { changedValues } from "../../../html/components/form-state.ts";
import type { FormFailure } from "../../../html/components/record-form.ts";
import { LOCALES } from "../../../html/messages/messages.ts";
import { copyScript } from "../../../html/scripts.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import { inOrganisation } from "../../../http/organisation-lookup.ts";
import { redirectTo, show, type Visit } from "../../../page-kit/page.ts";
import { requireVersion, VersionConflict, versionOf } from "../../../page-kit/record-version.ts";
import { acceptAccountForm, askForIdentity } from "../account-form.ts";
import {
  type AccountDeps,
  accountFrame,
  accountPath,
  accountRoute,
  isHomeUser,
  requireSignedIn,
} from "../account-page.ts";
import { actorText, isOwnAction } from "../actor-text.ts";
import { type ProfileFields, profilePage } from "./profile.page.ts";

const PROFILE = "profile";

export function profileRoute(app: FastifyInstance, deps: AccountDeps): void {
  app.get(
    "/oauth/:org/account",
    inOrganisation<Organisation>(deps.organisations.find, async (visit) => {
      await redirectTo(visit, profilePath(visit));
      return visit.reply;
    }),
  );
  accountRoute(app, deps, "/oauth/:org/account/profile", {
    get: async (visit) => {
      const signedIn = await requireSignedIn(deps, visit, profilePath(visit));
      await showProfile(deps, visit, signedIn.user);
    },
    post: (visit) => save(deps, visit),
  });
}

const profilePath = ({ organisation }: Pick<Visit, "organisation">): string =>
  accountPath(organisation, PROFILE);

interface FormState {
  readonly input?: ProfileFields;
  readonly version?: string | undefined;
  readonly failure?: FormFailure | undefined;
  readonly faults?: ReadonlyArray<keyof Profile>;
  /** Current values of fields changed concurrently. */
  readonly now?: Partial<ProfileFields>;
  readonly status?: number;
}

const toFields = ({ firstname, surname, phone, locale }: Profile): ProfileFields => ({
  firstname,
  surname,
  phone: phone ?? "",
  locale: locale ?? "",
});

async function showProfile(
  deps: AccountDeps,
  visit: Visit,
  user: User,
  state: FormState = {},
): Promise<void> {
  const { organisation } = visit;
  const frame = accountFrame(visit, user, "profile");
  const current = profileOf(user);
  const home = isHomeUser(organisation, user) ? undefined : await deps.organisations.find(user.homeOrgId);
  const page = profilePage({
    ...frame,
    csrf: deps.browserSession.formBinding(visit).csrf,
    action: profilePath(visit),
    version: state.version ?? versionOf(current),
    input: state.input ?? toFields(current),
    faults: state.faults ?? [],
    now: state.now ?? {},
    failure: state.failure,
    isDone: parseQuery(visit.request).values.get("done") === "saved",
    isConfirmed: user.emailVerified,
    changeAddressUri: deps.outbox.isOpen ? accountPath(organisation, "address") : undefined,
    membership: {
      role: user.role,
      permId: user.id,
      username: user.username ?? undefined,
      since: await findMemberSince(deps.database.query, user),
    },
    home: home && { name: home.name, uri: accountPath(home, PROFILE) },
    script: copyScript.path,
  });
  return show(visit, frame, page, state.status ?? 200);
}

function readFields(values: ReadonlyMap<string, string>): ProfileFields {
  const text = (name: keyof ProfileFields) => (values.get(name) ?? "").trim().replace(/\s+/g, " ");
  return {
    firstname: text("firstname"),
    surname: text("surname"),
    phone: text("phone"),
    locale: text("locale"),
  };
}

async function save(deps: AccountDeps, visit: Visit): Promise<void> {
  const { organisation } = visit;
  const form = await acceptAccountForm(deps, visit, profilePath(visit), {
    allowsGuests: true,
    allowsOldSignIn: true,
    redirectIfUnavailable: ({ user }) => (isHomeUser(organisation, user) ? undefined : profilePath(visit)),
  });
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { user } = form.signedIn;
  const input = readFields(form.values);
  const version = form.values.get("seen");
  const rerender = (state: FormState) => showProfile(deps, visit, user, { input, version, ...state });
  if (form.outcome === "rejected") return rerender(form.refusal);
  const profile = { ...input, phone: input.phone || null, locale: input.locale || null };
  const faults = findFaults(profile);
  if (faults.length > 0) {
    const { profile: labels } = accountFrame(visit, user, "profile").messages.console.account;
    const fields = faults.map((id) => ({ id, label: labels[id] }));
    return rerender({ faults, failure: { kind: "faults", fields }, status: 400 });
  }
  const key = { orgId: organisation.id, id: user.id };
  const target = { ...key, actor: `user:${user.id}`, address: addressOf(visit.request) };
  try {
    await changeProfile(deps, {
      ...target,
      profile,
      check: (current) => requireVersion(version, current),
    });
  } catch (error) {
    if (!(error instanceof VersionConflict)) throw error;
    const current = await findUser(deps.database.query, key.orgId, key.id);
    if (!current) throw error;
    return showConflict(deps, visit, current, input);
  }
  return redirectTo(visit, `${profilePath(visit)}?done=saved`);
}

/** The locale must be one of the translations. */
const findFaults = (profile: Profile): ReadonlyArray<keyof Profile> => {
  const isKnown = profile.locale === null || LOCALES.includes(profile.locale);
  return isKnown ? profileFaults(profile) : [...profileFaults(profile), "locale"];
};

/** Shows the input beside the current values, for the user to decide. */
async function showConflict(
  deps: AccountDeps,
  visit: Visit,
  current: User,
  input: ProfileFields,
): Promise<void> {
  return showProfile(deps, visit, current, {
    input,
    now: changedValues(input, toFields(profileOf(current))),
    failure: await conflictFailure(deps, visit, current),
    status: 409,
  });
}

/** Names who changed the profile and when: often the same user in another window. */
async function conflictFailure(deps: AccountDeps, visit: Visit, user: User): Promise<FormFailure> {
  const change = await lastChange(deps.database.query, visit.organisation.id, user.id);
  if (!change) return { kind: "changed" };
  const { messages } = accountFrame(visit, user, "profile");
  const { actor, at } = change;
  if (!isOwnAction(actor, user))
    return { kind: "changed", by: { who: actorText(actor, user, messages), at } };
  const { changedByYou, changedByYouText } = messages.console.account.profile;
  return { kind: "refused", title: changedByYou, text: changedByYouText({ at }) };
}
