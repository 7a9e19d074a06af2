/** `signet user set-profile`: names, phone, language and the optional details of a user. */
import { type DetailName, detailNames, tidyDetail } from "../../core/users/profile/details.ts";
import {
  changeProfile,
  type Profile,
  type ProfileMember,
  profileFaults,
  profileOf,
} from "../../core/users/profile/profile.ts";
import {
  type Command,
  type Options,
  type OrganisationCall,
  UsageError,
  userOptions,
  type Values,
} from "../command.ts";
import { requireHomeUser } from "../with-service.ts";
import { printUser } from "./user-record.ts";

const helps: Readonly<Record<ProfileMember, string>> = {
  firstname: "given name",
  surname: "family name",
  phone: "phone number",
  locale: "language, such as da or en-GB",
  middleName: "middle name",
  nickname: "nickname",
  gender: "gender",
  birthdate: "1990-05-17, 0000-05-17 without the year, or 1990",
  zoneinfo: "time zone, such as Europe/Copenhagen",
  profileUrl: "https address of the profile page",
  website: "https address of the website",
  picture: "https address of the picture",
  streetAddress: "street and number",
  postalCode: "postal code",
  locality: "city",
  region: "state or region",
  country: "country",
};
const members = Object.keys(helps) as ProfileMember[];

const optionOf = (member: ProfileMember): string =>
  member.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

const options: Options = Object.fromEntries(
  members.map((member) => [optionOf(member), { value: "TEXT", help: helps[member] }]),
);

export const setProfile: Command = {
  name: "user set-profile",
  summary: "change a user's profile: only the members that are given; an empty text removes one",
  usage: "--org ID (--id ID | --email ADDRESS) [options]",
  options: { ...userOptions, ...options },
  examples: [
    "signet user set-profile --org 01998d6e-… --email ada@example.com --nickname Ada --zoneinfo Europe/London",
    'signet user set-profile --org 01998d6e-… --email ada@example.com --phone ""',
  ],
  runInOrganisation: async (call: OrganisationCall) => {
    const given = givenMembers(call.values);
    if (Object.keys(given).length === 0) throw new UsageError("give at least one member to change");
    const user = await requireHomeUser(call);
    const profile = withMembers(profileOf(user), given);
    const [fault] = profileFaults(profile).filter((member) => member in given);
    if (fault !== undefined) throw new UsageError(`--${optionOf(fault)} is not valid: ${helps[fault]}`);
    await changeProfile(call.service, { ...call.by, id: user.id, profile });
    return printUser(call, user.id, "has a new profile");
  },
};

export type Given = Readonly<Partial<Record<ProfileMember, string>>>;

/** The members that the options name, as they were given. */
export function givenMembers(values: Values): Given {
  const texts = members.map((member) => [member, values[optionOf(member)]] as const);
  return Object.fromEntries(texts.filter(([, text]) => typeof text === "string"));
}

function withMembers(before: Required<Profile>, given: Given): Profile {
  const { firstname = before.firstname, surname = before.surname } = given;
  const optional = (text: string | undefined, kept: string | null) =>
    text === undefined ? kept : text.trim() || null;
  const details = { ...before.details };
  for (const name of detailNames) setDetail(details, name, given[name]);
  return {
    firstname: firstname.trim(),
    surname: surname.trim(),
    phone: optional(given.phone, before.phone),
    locale: optional(given.locale, before.locale),
    details,
  };
}

function setDetail(
  details: Partial<Record<DetailName, string>>,
  name: DetailName,
  given: string | undefined,
): void {
  if (given === undefined) return;
  const text = tidyDetail(name, given);
  if (text === "") delete details[name];
  else details[name] = text;
}
