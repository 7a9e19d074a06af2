/** What an account says about its person: names, phone and language; the address has a way of its own (account-mails.ts). */
import type { Database } from "../../../db/open.ts";
import { recordAuditEvent } from "../../audit/audit.store.ts";
import type { Clock } from "../../clock.ts";
import { isPersonName, type User } from "../user.ts";
import { findUser, holdAccount } from "../users.store.ts";
import { setProfile } from "./profile.store.ts";

export interface Profile {
  readonly firstname: string;
  readonly surname: string;
  readonly phone: string | null;
  /** A language tag; null for whatever the browser asks for. */
  readonly locale: string | null;
}

export const profileOf = ({ firstname, surname, phone, locale }: User): Profile => ({
  firstname,
  surname,
  phone,
  locale,
});

/** As the legacy API takes it (Register): digits and what people put between them. */
export const isPhone = (text: string): boolean => /^\+?[0-9 ()./-]{3,32}$/.test(text);

const LONGEST_TAG = 35;

/** A language, with script, region and variants (RFC 5646 §2.1): one that can be called by its name, which its form alone does not say. */
export function isLanguageTag(text: string): boolean {
  if (text.length > LONGEST_TAG || !/^[a-z]{2,8}(-[A-Za-z0-9]{1,8})*$/.test(text)) return false;
  try {
    return new Intl.DisplayNames([text], { type: "language" }).of(text) !== undefined;
  } catch {
    return false;
  }
}

/** @returns the members that cannot be kept as they are */
export function profileFaults(profile: Profile): ReadonlyArray<keyof Profile> {
  const { firstname, surname, phone, locale } = profile;
  return [
    ...(isPersonName(firstname) ? [] : (["firstname"] as const)),
    ...(isPersonName(surname) ? [] : (["surname"] as const)),
    ...(phone === null || isPhone(phone) ? [] : (["phone"] as const)),
    ...(locale === null || isLanguageTag(locale) ? [] : (["locale"] as const)),
  ];
}

export interface ProfileChange {
  /** The organisation that owns the account. */
  readonly orgId: string;
  readonly id: string;
  readonly profile: Profile;
  readonly actor: string;
  readonly address?: string;
  /** Sees the profile as it is now, while nobody else can change it; what it throws undoes the change. */
  check?(present: Profile): void;
}

/**
 * Nothing is written, and nothing recorded, when nothing is another.
 * @returns false when the organisation owns no such account
 */
export async function changeProfile(
  deps: { readonly database: Database; readonly clock: Clock },
  change: ProfileChange,
): Promise<boolean> {
  const { orgId, id, profile, actor, address } = change;
  if (profileFaults(profile).length > 0) throw new Error("the profile was not checked");
  return deps.database.transaction(async (tx) => {
    const now = deps.clock();
    await holdAccount(tx, { homeOrgId: orgId, id }, now);
    const user = await findUser(tx, orgId, id);
    if (!user || user.homeOrgId !== orgId) return false;
    const present = profileOf(user);
    change.check?.(present);
    const changed = (Object.keys(present) as Array<keyof Profile>).filter(
      (member) => present[member] !== profile[member],
    );
    if (changed.length === 0) return true;
    await setProfile(tx, { orgId, id }, profile, now);
    // Which members, and not what was or is in them: the audit log stays when the account goes.
    const event = { orgId, at: now, actor, action: "user.profile-changed", target: id, address } as const;
    await recordAuditEvent(tx, { ...event, details: { changed } });
    return true;
  });
}
