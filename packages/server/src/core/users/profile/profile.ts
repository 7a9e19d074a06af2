/** The profile of an account: names, phone and language; email addresses are changed in account-mails.ts. */
import { type Act, auditFields, recordAuditEvent } from "../../audit/audit.store.ts";
import type { CoreDeps } from "../../core-deps.ts";
import { lockUserAccount, setProfile } from "../account.store.ts";
import { isPersonName, type User } from "../user.ts";
import { findUser } from "../users.store.ts";

export type Profile = Pick<User, "firstname" | "surname" | "phone" | "locale">;

export const profileOf = ({ firstname, surname, phone, locale }: User): Profile => ({
  firstname,
  surname,
  phone,
  locale,
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

/** @returns the invalid members */
export function profileFaults(profile: Profile): ReadonlyArray<keyof Profile> {
  const { firstname, surname, phone, locale } = profile;
  return [
    ...(isPersonName(firstname) ? [] : (["firstname"] as const)),
    ...(isPersonName(surname) ? [] : (["surname"] as const)),
    ...(phone === null || isPhone(phone) ? [] : (["phone"] as const)),
    ...(locale === null || isLanguageTag(locale) ? [] : (["locale"] as const)),
  ];
}

/** The organisation is the home organisation. */
export interface ProfileChange extends Act {
  readonly id: string;
  readonly profile: Profile;
  /** Checks the current profile, locked; throwing rolls the change back. */
  check?(current: Profile): void;
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
    const changed = (Object.keys(current) as Array<keyof Profile>).filter(
      (member) => current[member] !== profile[member],
    );
    if (changed.length === 0) return true;
    await setProfile(tx, { orgId, id }, profile, now);
    // Member names only, not values: the audit log outlives the account.
    const event = { ...auditFields(change, now), action: "user.profile-changed", target: id } as const;
    await recordAuditEvent(tx, { ...event, details: { changed } });
    return true;
  });
}
