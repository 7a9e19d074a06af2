/** A member's record as form fields: read, validated, displayed. */
import { isNestedWithin } from "@signet/protocol/json-depth";
import { areAttributes, areGroups } from "../../../core/users/member-record.ts";
import { type DetailName, detailNames } from "../../../core/users/profile/details.ts";
import { type Profile, type ProfileMember, profileFaults } from "../../../core/users/profile/profile.ts";
import type { Attributes, Role, User } from "../../../core/users/user.ts";
import { isUsername, usernameKey } from "../../../core/users/username.ts";
import { readableJson } from "../../../html/json.ts";
import { languageName } from "../../../html/messages/language-name.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import {
  detailFaultText,
  readDetailInput,
  toDetailInput,
  toDetails,
} from "../../../page-kit/profile-fields.ts";
import { isGuest } from "./user-pages.ts";

/** In the order of the page. */
const memberFields = [
  "firstname",
  "surname",
  "username",
  "phone",
  "locale",
  ...detailNames,
  "role",
  "groups",
  "attributes",
  "membershipAttributes",
] as const;
export type MemberField = (typeof memberFields)[number];

export type MemberInput = Readonly<Record<MemberField, string>>;

/** A guest's account is changed at home, and nobody changes their own role. */
export function editableFields(user: User, isYou: boolean): readonly MemberField[] {
  const ofMembership: readonly MemberField[] = ["role", "groups", "membershipAttributes"];
  const fields = isGuest(user) ? ofMembership : memberFields;
  return isYou ? fields.filter((field) => field !== "role") : fields;
}

export const toMemberInput = (user: User): MemberInput => ({
  firstname: user.firstname,
  surname: user.surname,
  username: user.username ?? "",
  phone: user.phone ?? "",
  locale: user.locale ?? "",
  ...toDetailInput(user.details),
  role: user.role,
  groups: user.membership.groups.join("\n"),
  attributes: formatJson(user.attributes),
  membershipAttributes: formatJson(user.membership.attributes),
});

/** Longer JSON stands on one line: nobody reads it. */
export const MAX_FORMATTED_LETTERS = 32_000;

function formatJson(attributes: Attributes): string {
  if (Object.keys(attributes).length === 0) return "";
  const text = readableJson(attributes);
  return text.length > MAX_FORMATTED_LETTERS ? JSON.stringify(attributes) : text;
}

/** Fields that the form does not have keep their value. */
export function readMemberInput(
  values: ReadonlyMap<string, string>,
  user: User,
  fields: readonly MemberField[],
): MemberInput {
  const before = toMemberInput(user);
  const details = readDetailInput(fields.includes("nickname") ? values : new Map(), before);
  const read = (field: MemberField) =>
    fields.includes(field) ? (values.get(field) ?? "").replaceAll("\r\n", "\n").trim() : before[field];
  const input = Object.fromEntries(memberFields.map((field) => [field, read(field)])) as MemberInput;
  return { ...input, ...details };
}

export type MemberContent = Extract<ReturnType<typeof validateMember>, { content: unknown }>["content"];

export function validateMember(input: MemberInput, messages: Messages) {
  const { faults: text } = messages.console.users;
  const profile: Profile = {
    firstname: input.firstname,
    surname: input.surname,
    phone: input.phone === "" ? null : input.phone,
    locale: input.locale === "" ? null : input.locale,
    details: toDetails(input),
  };
  const username = input.username === "" ? null : usernameKey(input.username);
  const { role } = input;
  const groups = [...new Set(readLines(input.groups))];
  const attributes = readJson(input.attributes);
  const membershipAttributes = readJson(input.membershipAttributes);
  const invalid = profileFaults(profile);
  const attributesFault = (value: unknown) =>
    !areAttributes(value) && (value === undefined ? text.json : text.attributes);
  const checked: Record<MemberField, string | false> = {
    firstname: invalid.includes("firstname") && text.name,
    surname: invalid.includes("surname") && text.name,
    username: username !== null && !isUsername(username) && text.username,
    phone: invalid.includes("phone") && text.phone,
    locale: invalid.includes("locale") && text.choice,
    ...detailFaultTexts(invalid, messages),
    role: role !== "Standard" && role !== "Administrator" && text.choice,
    groups: !areGroups(groups) && text.groups,
    attributes: attributesFault(attributes),
    membershipAttributes: attributesFault(membershipAttributes),
  };
  const faults = Object.entries(checked).flatMap(([id, fault]) => (fault === false ? [] : [[id, fault]]));
  if (faults.length > 0 || !areAttributes(attributes) || !areAttributes(membershipAttributes))
    return { faults: Object.fromEntries(faults) as Record<string, string> };
  const content = { profile, username, role: role as Role, groups, attributes, membershipAttributes };
  return { content };
}

const detailFaultTexts = (invalid: readonly ProfileMember[], messages: Messages) =>
  Object.fromEntries(
    detailNames.map((name) => [name, invalid.includes(name) && detailFaultText(name, messages)]),
  ) as Record<DetailName, string | false>;

const readLines = (text: string): string[] =>
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

export function displayMember(input: MemberInput, fields: readonly MemberField[], messages: Messages) {
  const { roles, profile } = messages.console.users;
  const display = (field: MemberField): string => {
    const value = input[field];
    if (field === "locale") return value === "" ? profile.anyLanguage : languageName(value);
    if (field === "role") return value === "Administrator" ? roles.Administrator : roles.Standard;
    if (field === "groups") return readLines(value).join(", ");
    if (field === "attributes" || field === "membershipAttributes") return oneLine(value);
    return value;
  };
  return Object.fromEntries(fields.map((field) => [field, display(field)]));
}

/** Unreadable JSON stays as it is. */
function oneLine(text: string): string {
  const value = readJson(text);
  return text === "" || value === undefined || !isNestedWithin(value) ? text : JSON.stringify(value);
}
