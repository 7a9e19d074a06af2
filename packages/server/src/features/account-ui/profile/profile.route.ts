/** account/profile: names, phone and language; `account` alone leads here. Changing asks for no fresh sign-in: none of it lets anybody in. */

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
import { differing } from "../../../html/components/form-state.ts";
import type { FormFailure } from "../../../html/components/record-form.ts";
import { LOCALES } from "../../../html/messages/messages.ts";
import { copyScript } from "../../../html/scripts.ts";
import { queryOf } from "../../../http/form-body.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import { inOrganisation } from "../../../http/organisation-lookup.ts";
import { goTo, show, type Visit } from "../../../page-kit/page.ts";
import { requireVersion, VersionConflict, versionOf } from "../../../page-kit/record-version.ts";
import { acceptAccountForm, askForIdentity } from "../account-form.ts";
import {
  type AccountDeps,
  accountFrame,
  accountPath,
  accountRoute,
  isAtHome,
  requireSignedIn,
} from "../account-page.ts";
import { isOwnAct, whoActed } from "../who-acted.ts";
import { type ProfileFields, profilePage } from "./profile.page.ts";

const PROFILE = "profile";

export function profileRoute(app: FastifyInstance, deps: AccountDeps): void {
  app.get(
    "/oauth/:org/account",
    inOrganisation<Organisation>(deps.organisations.find, async (visit) => {
      await goTo(visit, profilePath(visit));
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

interface Shown {
  readonly typed?: ProfileFields;
  readonly seen?: string | undefined;
  readonly failure?: FormFailure | undefined;
  readonly faults?: ReadonlyArray<keyof Profile>;
  /** Fields that hold something else now. */
  readonly now?: Partial<ProfileFields>;
  readonly status?: number;
}

const fieldsOf = ({ firstname, surname, phone, locale }: Profile): ProfileFields => ({
  firstname,
  surname,
  phone: phone ?? "",
  locale: locale ?? "",
});

async function showProfile(deps: AccountDeps, visit: Visit, user: User, shown: Shown = {}): Promise<void> {
  const { organisation } = visit;
  const frame = accountFrame(visit, user, "profile");
  const present = profileOf(user);
  const home = isAtHome(organisation, user) ? undefined : await deps.organisations.find(user.homeOrgId);
  const page = profilePage({
    ...frame,
    csrf: deps.browserSession.formBinding(visit).csrf,
    action: profilePath(visit),
    seen: shown.seen ?? versionOf(present),
    typed: shown.typed ?? fieldsOf(present),
    faults: shown.faults ?? [],
    now: shown.now ?? {},
    failure: shown.failure,
    isDone: queryOf(visit.request).values.get("done") === "saved",
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
  return show(visit, frame, page, shown.status ?? 200);
}

function typedIn(values: ReadonlyMap<string, string>): ProfileFields {
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
    byGuests: true,
    needsNoProof: true,
    redirectIfClosed: ({ user }) => (isAtHome(organisation, user) ? undefined : profilePath(visit)),
  });
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { user } = form.signedIn;
  const typed = typedIn(form.values);
  const seen = form.values.get("seen");
  const rerender = (shown: Shown) => showProfile(deps, visit, user, { typed, seen, ...shown });
  if (form.outcome === "rejected") return rerender(form.refusal);
  const profile = { ...typed, phone: typed.phone || null, locale: typed.locale || null };
  const faults = faultsOf(profile);
  if (faults.length > 0) {
    const { profile: labels } = accountFrame(visit, user, "profile").messages.console.account;
    const fields = faults.map((id) => ({ id, label: labels[id] }));
    return rerender({ faults, failure: { kind: "faults", fields }, status: 400 });
  }
  const key = { orgId: organisation.id, id: user.id };
  const act = { ...key, actor: `user:${user.id}`, address: addressOf(visit.request) };
  try {
    await changeProfile(deps, {
      ...act,
      profile,
      check: (present) => requireVersion(seen, present),
    });
  } catch (error) {
    if (!(error instanceof VersionConflict)) throw error;
    const present = await findUser(deps.database.query, key.orgId, key.id);
    if (!present) throw error;
    return showChanged(deps, visit, present, typed);
  }
  return goTo(visit, `${profilePath(visit)}?done=saved`);
}

/** One of the languages that there are texts in. */
const faultsOf = (profile: Profile): ReadonlyArray<keyof Profile> => {
  const isKnown = profile.locale === null || LOCALES.includes(profile.locale);
  return isKnown ? profileFaults(profile) : [...profileFaults(profile), "locale"];
};

/** With the values that are there now beside what was typed, to be sent again or not. */
async function showChanged(
  deps: AccountDeps,
  visit: Visit,
  present: User,
  typed: ProfileFields,
): Promise<void> {
  return showProfile(deps, visit, present, {
    typed,
    now: differing(typed, fieldsOf(profileOf(present))),
    failure: await changedMeanwhile(deps, visit, present),
    status: 409,
  });
}

/** Who was faster, and when: often it is the same person, in another window. */
async function changedMeanwhile(deps: AccountDeps, visit: Visit, user: User): Promise<FormFailure> {
  const change = await lastChange(deps.database.query, visit.organisation.id, user.id);
  if (!change) return { kind: "changed" };
  const { messages } = accountFrame(visit, user, "profile");
  const { actor, at } = change;
  if (!isOwnAct(actor, user)) return { kind: "changed", by: { who: whoActed(actor, user, messages), at } };
  const { changedByYou, changedByYouText } = messages.console.account.profile;
  return { kind: "refused", title: changedByYou, text: changedByYouText({ at }) };
}
