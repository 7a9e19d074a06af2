/** A member's record as its form has it: texts, which are read, judged and compared here. */

import { isNestedWithin } from "@signet/protocol/json-depth";
import { isUsername, usernameKey } from "../../../core/users/identifiers/username.ts";
import { areAttributes, areGroups } from "../../../core/users/member-record.ts";
import { type Profile, profileFaults } from "../../../core/users/profile/profile.ts";
import type { Attributes, Role, User } from "../../../core/users/user.ts";
import { readableJson } from "../../../html/json.ts";
import { languageName } from "../../../html/messages/language-name.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { isGuest } from "./user-visit.ts";

/** In the order of the page. */
const memberFields = [
  "firstname",
  "surname",
  "username",
  "phone",
  "locale",
  "role",
  "groups",
  "attributes",
  "membershipAttributes",
] as const;
export type MemberField = (typeof memberFields)[number];

export type TypedMember = Readonly<Record<MemberField, string>>;

/** A guest's account is changed at home, and nobody changes their own role. */
export function fieldsOf(user: User, isYou: boolean): readonly MemberField[] {
  const ofMembership: readonly MemberField[] = ["role", "groups", "membershipAttributes"];
  const fields = isGuest(user) ? ofMembership : memberFields;
  return isYou ? fields.filter((field) => field !== "role") : fields;
}

export const typedOf = (user: User): TypedMember => ({
  firstname: user.firstname,
  surname: user.surname,
  username: user.username ?? "",
  phone: user.phone ?? "",
  locale: user.locale ?? "",
  role: user.role,
  groups: user.membership.groups.join("\n"),
  attributes: jsonText(user.attributes),
  membershipAttributes: jsonText(user.membership.attributes),
});

/** As many letters as somebody reads who looks for a line in them; what is longer stands in one. */
export const MOST_LAID_OUT = 32_000;

function jsonText(attributes: Attributes): string {
  if (Object.keys(attributes).length === 0) return "";
  const text = readableJson(attributes);
  return text.length > MOST_LAID_OUT ? JSON.stringify(attributes) : text;
}

/** What is not in the form stands as it is. */
export function readMember(
  values: ReadonlyMap<string, string>,
  user: User,
  fields: readonly MemberField[],
): TypedMember {
  const before = typedOf(user);
  const read = (field: MemberField) =>
    fields.includes(field) ? (values.get(field) ?? "").replaceAll("\r\n", "\n").trim() : before[field];
  return Object.fromEntries(memberFields.map((field) => [field, read(field)])) as TypedMember;
}

/** A member's record, ready to be kept. */
export interface MemberContent {
  readonly profile: Profile;
  readonly username: string | null;
  readonly role: Role;
  readonly groups: readonly string[];
  readonly attributes: Attributes;
  readonly membershipAttributes: Attributes;
}

/** @returns what is wrong with it, by field, when there is something */
export function contentOf(
  typed: TypedMember,
  messages: Messages,
): { content: MemberContent } | { faults: Record<string, string> } {
  const { faults: text } = messages.console.users;
  const profile: Profile = {
    firstname: typed.firstname,
    surname: typed.surname,
    phone: typed.phone === "" ? null : typed.phone,
    locale: typed.locale === "" ? null : typed.locale,
  };
  const username = typed.username === "" ? null : usernameKey(typed.username);
  const { role } = typed;
  const groups = [...new Set(linesOf(typed.groups))];
  const attributes = readJson(typed.attributes);
  const membershipAttributes = readJson(typed.membershipAttributes);
  const bad = new Map<MemberField, string>();
  for (const member of profileFaults(profile))
    bad.set(
      member,
      { firstname: text.name, surname: text.name, phone: text.phone, locale: text.choice }[member],
    );
  if (username !== null && !isUsername(username)) bad.set("username", text.username);
  if (role !== "Standard" && role !== "Administrator") bad.set("role", text.choice);
  if (!areGroups(groups)) bad.set("groups", text.groups);
  for (const [field, value] of [
    ["attributes", attributes] as const,
    ["membershipAttributes", membershipAttributes] as const,
  ])
    if (!areAttributes(value)) bad.set(field, value === undefined ? text.json : text.attributes);
  if (bad.size > 0 || !areAttributes(attributes) || !areAttributes(membershipAttributes)) {
    const inOrder = memberFields.flatMap((field) => (bad.has(field) ? [[field, bad.get(field) ?? ""]] : []));
    return { faults: Object.fromEntries(inOrder) as Record<string, string> };
  }
  const content = { profile, username, role: role as Role, groups, attributes, membershipAttributes };
  return { content };
}

const linesOf = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

/** @returns undefined for what is no JSON object */
function readJson(text: string): unknown {
  if (text === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** As people read it: for what the record is now, where somebody else changed it. */
export function inWords(typed: TypedMember, fields: readonly MemberField[], messages: Messages) {
  const { roles, profile } = messages.console.users;
  const words = (field: MemberField): string => {
    const value = typed[field];
    if (field === "locale") return value === "" ? profile.anyLanguage : languageName(value);
    if (field === "role") return value === "Administrator" ? roles.Administrator : roles.Standard;
    if (field === "groups") return linesOf(value).join(", ");
    if (field === "attributes" || field === "membershipAttributes") return oneLine(value);
    return value;
  };
  return Object.fromEntries(fields.map((field) => [field, words(field)]));
}

/** However it was laid out: what cannot be read stays as it is. */
function oneLine(text: string): string {
  const value = readJson(text);
  return text === "" || value === undefined || !isNestedWithin(value) ? text : JSON.stringify(value);
}
