/** A PATCH of a user: what it means for the account, by the rules that the console and the account pages follow. */
import type { Static } from "typebox";
import Type from "typebox";
import type { NoticeDeps } from "../../../core/mail/notices.ts";
import type { RecordDeps } from "../../../core/record-changes.ts";
import { setVerifiedEmail } from "../../../core/users/account-mails.ts";
import { lockUser } from "../../../core/users/lock-user.ts";
import { areAttributes, changeMemberRecord, changeRole } from "../../../core/users/member-record.ts";
import { type DetailName, type ProfileDetails, tidyDetail } from "../../../core/users/profile/details.ts";
import {
  changeProfile,
  type Profile,
  type ProfileMember,
  profileFaults,
  profileOf,
} from "../../../core/users/profile/profile.ts";
import type { Attributes, Role, User } from "../../../core/users/user.ts";
import { changeUsername, isUsername, usernameKey } from "../../../core/users/username.ts";
import { findUser } from "../../../core/users/users.store.ts";
import { ApiError, invalid, type MemberFault, notFound } from "../../../http/api/api-error.ts";
import { mergePatch } from "../../../http/api/merge-patch.ts";
import { strictObject } from "../../../http/api/schemas.ts";
import { type ApiCaller, actOf, requireHeld } from "../access.ts";
import {
  addressMembers,
  addressParts,
  attributesSchema,
  detailMembers,
  emailSchema,
  profileMembers,
  roleSchema,
} from "./user-record.ts";

const optional = <M extends Record<string, ReturnType<typeof Type.Union>>>(members: M) =>
  Object.fromEntries(Object.entries(members).map(([name, schema]) => [name, Type.Optional(schema)]));

const attributes = Type.Optional(Type.Union([attributesSchema, Type.Null()]));

/** Everything else is read-only. */
export const userPatch = strictObject({
  ...optional(profileMembers),
  address: Type.Optional(Type.Union([strictObject(optional(addressMembers)), Type.Null()])),
  email: Type.Optional(emailSchema),
  role: Type.Optional(roleSchema),
  attributes,
  membershipAttributes: attributes,
});

type Text = Readonly<Record<string, string | null | undefined>>;

export interface UserPatch extends Pick<Static<typeof userPatch>, "role" | "email"> {
  readonly address?: Text | null;
  readonly attributes?: Attributes | null;
  readonly membershipAttributes?: Attributes | null;
}

/** What a guest's account is does not belong to this organisation. */
const ofMembership: readonly string[] = ["role", "membershipAttributes"];

/**
 * @param deps in a transaction
 * @param check of the present record, locked; throwing rolls everything back
 * @throws ApiError 403, 404, 409, 422; LastAdministrator, UsernameTaken
 */
export async function changeUser(
  deps: RecordDeps & NoticeDeps,
  caller: ApiCaller,
  { id, patch, check }: { id: string; patch: UserPatch; check: (user: User) => Promise<void> },
): Promise<User> {
  const orgId = caller.organisation.id;
  const db = deps.database.query;
  const user = await lockUser(deps, { orgId, id });
  if (!user) throw notFound();
  await check(user);
  requireMayChange(caller, user, patch);
  const { profile, username, record } = readPatch(user, patch);
  const acting = { ...actOf(caller), id };
  if (user.homeOrgId === orgId) {
    await changeProfile(deps, { ...acting, profile });
    await changeUsername(deps, { ...acting, username });
    const { email } = patch;
    if (email !== undefined && email.trim() !== user.email)
      await setVerifiedEmail(deps, user, { newEmail: email, ...actOf(caller) });
  }
  if (patch.role !== undefined) await changeRole(deps, { ...acting, role: patch.role });
  if (record) await changeMemberRecord(deps, { ...acting, record });
  return (await findUser(db, orgId, id)) ?? user;
}

/** Who made, changed or ended an administrator could become one. @throws ApiError 403 exceeds-caller */
export function requireMayManage(caller: ApiCaller, ...roles: ReadonlyArray<Role | undefined>): void {
  if (roles.includes("Administrator")) requireHeld(caller, "signet:organisation:write");
}

/** @throws ApiError 403 exceeds-caller, 409 foreign-account */
function requireMayChange(caller: ApiCaller, user: User, patch: UserPatch): void {
  requireMayManage(caller, user.role, patch.role);
  if (user.homeOrgId !== user.orgId && Object.keys(patch).some((name) => !ofMembership.includes(name)))
    throw foreignAccount();
}

export const foreignAccount = () =>
  new ApiError(409, "foreign-account", "The account belongs to another organisation", {
    detail: "Of a guest, only role and membershipAttributes can be changed.",
  });

/** @throws ApiError 422 naming every fault */
function readPatch(user: User, patch: UserPatch) {
  const texts = patch as Text;
  const profile = readProfile(profileOf(user), texts, patch.address);
  const username = Object.hasOwn(texts, "username")
    ? texts["username"] === null
      ? null
      : usernameKey(texts["username"] ?? "")
    : user.username;
  const attributes = merged(user.attributes, patch.attributes);
  const ofMember = merged(user.membership.attributes, patch.membershipAttributes);
  const faults: MemberFault[] = [
    ...profileFaults(profile).map((member) => ({ path: pathOf(member), message: "is invalid" })),
    ...(username === user.username || username === null || isUsername(username)
      ? []
      : [{ path: "/username", message: "has 2 to 64 letters, digits and . _ -" }]),
    ...attributeFaults("attributes", attributes),
    ...attributeFaults("membershipAttributes", ofMember),
  ];
  if (faults.length > 0) throw invalid(faults);
  const record = {
    ...(attributes === undefined ? {} : { attributes }),
    ...(ofMember === undefined ? {} : { membership: { attributes: ofMember } }),
  };
  return { profile, username, record: Object.keys(record).length === 0 ? undefined : record };
}

/** @returns undefined when they stay as they are */
function merged(current: Attributes, patch: Attributes | null | undefined): Attributes | undefined {
  if (patch === undefined) return undefined;
  const next = (patch === null ? {} : mergePatch(current, patch)) as Attributes;
  return JSON.stringify(next) === JSON.stringify(current) ? undefined : next;
}

const attributeFaults = (name: string, attributes: Attributes | undefined): MemberFault[] =>
  attributes === undefined || areAttributes(attributes)
    ? []
    : [{ path: `/${name}`, message: "at most 100, 16,000 characters in all, names of A-Z a-z 0-9 _ -" }];

function readProfile(current: Required<Profile>, texts: Text, address: UserPatch["address"]): Profile {
  const read = (name: string, present: string | null) => {
    const text = texts[name];
    return text === undefined ? present : (text?.trim() ?? null);
  };
  return {
    firstname: read("firstname", current.firstname) ?? "",
    surname: read("surname", current.surname) ?? "",
    phone: read("phone", current.phone),
    locale: read("locale", current.locale),
    details: readDetails(current.details, texts, address),
  };
}

function readDetails(current: ProfileDetails, texts: Text, address: UserPatch["address"]): ProfileDetails {
  const none = Object.fromEntries(addressParts.map((part) => [part, null]));
  const wanted: ReadonlyArray<readonly [DetailName, string | null | undefined]> = [
    ...Object.entries(detailMembers).map(([name, member]) => [name as DetailName, texts[member]] as const),
    ...addressParts.map((part) => [part, (address === null ? none : address)?.[part]] as const),
  ];
  const details = new Map(Object.entries(current) as Array<[DetailName, string]>);
  for (const [name, text] of wanted) {
    if (text === null) details.delete(name);
    else if (text !== undefined) details.set(name, tidyDetail(name, text));
  }
  return Object.fromEntries(details);
}

/** As JSON Pointer. */
function pathOf(member: ProfileMember): string {
  if ((addressParts as readonly string[]).includes(member)) return `/address/${member}`;
  return `/${(detailMembers as Readonly<Record<string, string>>)[member] ?? member}`;
}
