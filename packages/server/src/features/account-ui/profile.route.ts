/** account/profile: names, phone and language; `account` alone leads here. Changing asks for no fresh sign-in: none of it lets anybody in. */

import type { FastifyInstance } from "fastify";
import { ChangedMeanwhile, requireSeen, seenOf } from "../../console/submission.ts";
import { goTo, show, type Visit } from "../../console/visit.ts";
import type { Organisation } from "../../core/organisations/organisation.ts";
import type { SignedIn } from "../../core/sessions/session.ts";
import { changeProfile, type Profile, profileFaults, profileOf } from "../../core/users/profile/profile.ts";
import { findMemberSince, findUser } from "../../core/users/store.ts";
import type { User } from "../../core/users/user.ts";
import type { FormFailure } from "../../html/console/record-form.ts";
import { LANGUAGES } from "../../html/messages/messages.ts";
import { copyScript } from "../../html/scripts.ts";
import { addressOf } from "../../http/client-address.ts";
import { formOf, queryOf } from "../../http/form-body.ts";
import { inOrganisation } from "../../http/organisation-lookup.ts";
import {
  type AccountDeps,
  accountFrame,
  accountPath,
  accountRoute,
  isAtHome,
  signedInHere,
} from "./account-page.ts";
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
  accountRoute(app, deps, PROFILE, {
    get: async (visit) => {
      const signedIn = await signedInHere(deps, visit, profilePath(visit));
      if (signedIn) await showProfile(deps, visit, signedIn.user);
    },
    post: async (visit) => {
      const signedIn = await signedInHere(deps, visit, profilePath(visit));
      if (!signedIn) return;
      if (isAtHome(visit.organisation, signedIn.user)) await save(deps, visit, signedIn);
      else await goTo(visit, profilePath(visit));
    },
  });
}

const profilePath = ({ organisation }: Pick<Visit, "organisation">): string =>
  accountPath(organisation, PROFILE);

interface Shown {
  readonly typed?: ProfileFields;
  readonly seen?: string | undefined;
  readonly failure?: FormFailure;
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
    csrf: deps.door.formBinding(visit).csrf,
    action: profilePath(visit),
    seen: shown.seen ?? seenOf(present),
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

async function save(deps: AccountDeps, visit: Visit, { user }: SignedIn): Promise<void> {
  const { values } = formOf(visit.request);
  const text = (name: keyof ProfileFields) => (values.get(name) ?? "").trim().replace(/\s+/g, " ");
  const typed = {
    firstname: text("firstname"),
    surname: text("surname"),
    phone: text("phone"),
    locale: text("locale"),
  };
  const seen = values.get("seen");
  const again = (shown: Shown) => showProfile(deps, visit, user, { typed, seen, ...shown });
  if (!deps.door.isOwnForm(visit, values.get("csrf")))
    return again({ failure: { kind: "expired" }, status: 403 });
  const profile = { ...typed, phone: typed.phone || null, locale: typed.locale || null };
  const faults = faultsOf(profile);
  if (faults.length > 0) {
    const { profile: labels } = accountFrame(visit, user, "profile").messages.console.account;
    const fields = faults.map((id) => ({ id, label: labels[id] }));
    return again({ faults, failure: { kind: "faults", fields }, status: 400 });
  }
  const key = { orgId: visit.organisation.id, id: user.id };
  const act = { ...key, actor: `user:${user.id}`, address: addressOf(visit.request) };
  try {
    await changeProfile(deps, { ...act, profile, check: (present) => requireSeen(seen, present) });
  } catch (error) {
    if (!(error instanceof ChangedMeanwhile)) throw error;
    const present = await findUser(deps.database.query, key.orgId, key.id);
    if (!present) throw error;
    return showChanged(deps, visit, present, typed);
  }
  return goTo(visit, `${profilePath(visit)}?done=saved`);
}

/** One of the languages that there are texts in. */
const faultsOf = (profile: Profile): ReadonlyArray<keyof Profile> => {
  const isKnown = profile.locale === null || LANGUAGES.some(({ locale }) => locale === profile.locale);
  return isKnown ? profileFaults(profile) : [...profileFaults(profile), "locale"];
};

/** With the values that are there now beside what was typed, to be sent again or not. */
function showChanged(deps: AccountDeps, visit: Visit, present: User, typed: ProfileFields): Promise<void> {
  const now = fieldsOf(profileOf(present));
  const others = Object.entries(now).filter(([name, value]) => typed[name as keyof ProfileFields] !== value);
  return showProfile(deps, visit, present, {
    typed,
    now: Object.fromEntries(others),
    failure: { kind: "changed" },
    status: 409,
  });
}
