/** The profile of an account: names, phone, language and details; email addresses are changed in account-mails.ts. */
import { type Act, auditFields, recordAuditEvent } from "../../audit/audit.store.ts";
import type { CoreDeps } from "../../core-deps.ts";
import { lockUserAccount, setProfile } from "../account.store.ts";
import { isPersonName, type User } from "../user.ts";
import { findUser } from "../users.store.ts";
import { type DetailName, detailFaults, type ProfileDetails } from "./details.ts";

export type Profile = Pick<User, "firstname" | "surname" | "phone" | "locale"> & {
  /** Absent in a change: they stay as they are. */
  readonly details?: ProfileDetails;
};

export const profileOf = ({ firstname, surname, phone, locale, details }: User): Required<Profile> => ({
  firstname,
  surname,
  phone,
  locale,
  details,
});

/** As the legacy API accepts it (Register): digits and separators. */
export const isPhone = (text: string): boolean => /^\+?[0-9 ()./-]{3,32}$/.test(text);

const MAX_TAG_LENGTH = 35;

/**
 * A language with script, region and variants (RFC 5646 §2.1) that has a name, because the syntax alone accepts
 * anything.
 */
export function isLanguageTag(text: string): boolean {
  if (text.length > MAX_TAG_LENGTH || !/^[a-z]{2,8}(-[A-Za-z0-9]{1,8})*$/.test(text)) return false;
  try {
    return new Intl.DisplayNames([text], { type: "language" }).of(text) !== undefined;
  } catch {
    return false;
  }
}

/** Each is a field of the forms and commands that change a profile. */
export type ProfileMember = Exclude<keyof Profile, "details"> | DetailName;

/** @returns the invalid members */
export function profileFaults(profile: Profile): readonly ProfileMember[] {
  const { firstname, surname, phone, locale, details = {} } = profile;
  return [
    ...(isPersonName(firstname) ? [] : (["firstname"] as const)),
    ...(isPersonName(surname) ? [] : (["surname"] as const)),
    ...(phone === null || isPhone(phone) ? [] : (["phone"] as const)),
    ...(locale === null || isLanguageTag(locale) ? [] : (["locale"] as const)),
    ...detailFaults(details),
  ];
}

const membersOf = ({
  details,
  ...person
}: Required<Profile>): Readonly<Record<string, string | null | undefined>> => ({
  ...person,
  ...details,
});

/** @returns the members that differ */
function changedMembers(before: Required<Profile>, after: Required<Profile>): string[] {
  const [one, other] = [membersOf(before), membersOf(after)];
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].filter(
    (name) => one[name] !== other[name],
  );
}

/** The organisation is the home organisation. */
export interface ProfileChange extends Act {
  readonly id: string;
  readonly profile: Profile;
  /** Checks the current profile, locked; throwing rolls the change back. */
  check?(current: Required<Profile>): void;
}

/** Does nothing when nothing changes. @returns false when there is no such account */
export async function changeProfile(deps: CoreDeps, change: ProfileChange): Promise<boolean> {
  const { orgId, id, profile } = change;
  if (profileFaults(profile).length > 0) throw new Error("the profile was not checked");
  return deps.database.transaction(async (tx) => {
    const now = deps.clock();
    await lockUserAccount(tx, { homeOrgId: orgId, id }, now);
    const user = await findUser(tx, orgId, id);
    if (!user || user.homeOrgId !== orgId) return false;
    const current = profileOf(user);
    change.check?.(current);
    const wanted = { ...current, ...profile };
    const changed = changedMembers(current, wanted);
    if (changed.length === 0) return true;
    await setProfile(tx, { orgId, id }, wanted, now);
    // Member names only, not values: the audit log outlives the account.
    const event = { ...auditFields(change, now), action: "user.profile-changed", target: id } as const;
    await recordAuditEvent(tx, { ...event, details: { changed } });
    return true;
  });
}
