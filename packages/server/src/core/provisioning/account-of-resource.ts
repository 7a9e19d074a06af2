/** What a SCIM user means for the account, and how an account looks as a SCIM user (api-v1.md, "SCIM"). */
import { fault, isObject, type Resource } from "@signet/protocol/scim/attribute";
import { ENTERPRISE_SCHEMA } from "@signet/protocol/scim/user-schema";
import { type DetailName, detailFaults, type ProfileDetails, tidyDetail } from "../users/profile/details.ts";
import { isLanguageTag, isPhone, type Profile } from "../users/profile/profile.ts";
import { isEmail, isPersonName } from "../users/user.ts";

export interface ProvisionedAccount {
  readonly email: string;
  readonly profile: Required<Profile>;
  /** Members of the enterprise extension by their names. */
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly active: boolean;
}

/** @throws ScimFault `invalidValue` without an email address */
export function accountOf(resource: Resource): ProvisionedAccount {
  return {
    email: emailOf(resource),
    profile: profileOf(resource),
    attributes: enterpriseOf(resource),
    active: resource["active"] !== false,
  };
}

const text = (value: unknown): string | undefined =>
  typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;

const part = (value: unknown): Resource => (isObject(value) ? value : {});

/** The primary one, else the one for work, else the first. */
export function chosenOf(resource: Resource, name: string): Resource | undefined {
  const all = (Array.isArray(resource[name]) ? resource[name] : []).filter(isObject);
  return (
    all.find(({ primary }) => primary === true) ??
    all.find(({ type }) => text(type)?.toLowerCase() === "work") ??
    all[0]
  );
}

/** All addresses, as they were written. */
export const emailsOf = (resource: Resource): string[] =>
  (Array.isArray(resource["emails"]) ? resource["emails"] : []).flatMap(
    (one) => text(part(one)["value"]) ?? [],
  );

function emailOf(resource: Resource): string {
  const email = text(chosenOf(resource, "emails")?.["value"]) ?? text(resource["userName"]) ?? "";
  if (!isEmail(email))
    throw fault("invalidValue", "The user has no email address: emails has none, and userName is none.");
  return email;
}

/** What the account can't hold stays in the resource alone: a name that is too long must not stop an import. */
function profileOf(resource: Resource): Required<Profile> {
  const name = part(resource["name"]);
  const [given, family] = [text(name["givenName"]), text(name["familyName"])];
  const whole = text(resource["displayName"]) ?? text(name["formatted"]);
  const phone = text(chosenOf(resource, "phoneNumbers")?.["value"])?.replace(/^tel:/i, "");
  return {
    firstname: personName(given ?? (family === undefined ? whole : undefined)),
    surname: personName(family),
    phone: phone !== undefined && isPhone(phone) ? phone : null,
    locale: localeOf(resource),
    details: detailsOf(resource, name),
  };
}

function personName(name = ""): string {
  const line = name.replaceAll(/\p{Cc}/gu, " ");
  return isPersonName(line) ? line : [...line].slice(0, 100).join("");
}

/** `preferredLanguage` may be as in `Accept-Language`; both with `_`. */
function localeOf(resource: Resource): string | null {
  for (const name of ["locale", "preferredLanguage"]) {
    const tag = text(resource[name])?.split(/[,;]/)[0]?.trim().replaceAll("_", "-");
    if (tag !== undefined && isLanguageTag(tag)) return tag;
  }
  return null;
}

function detailsOf(resource: Resource, name: Resource): ProfileDetails {
  const address = chosenOf(resource, "addresses") ?? {};
  const wanted: Partial<Record<DetailName, unknown>> = {
    middleName: name["middleName"],
    nickname: resource["nickName"],
    zoneinfo: resource["timezone"],
    profileUrl: resource["profileUrl"],
    picture: chosenOf(resource, "photos")?.["value"],
    streetAddress: address["streetAddress"],
    postalCode: address["postalCode"],
    locality: address["locality"],
    region: address["region"],
    country: address["country"],
  };
  const details = Object.fromEntries(
    Object.entries(wanted).flatMap(([key, value]) => {
      const found = text(value);
      return found === undefined ? [] : [[key, tidyDetail(key as DetailName, found)]];
    }),
  ) as Record<DetailName, string>;
  for (const invalid of detailFaults(details)) delete details[invalid];
  return details;
}

const enterpriseNames: readonly string[] = [
  ...["employeeNumber", "costCenter", "organization", "division", "department", "manager"],
];

function enterpriseOf(resource: Resource): Record<string, unknown> {
  const extension = part(resource[ENTERPRISE_SCHEMA]);
  return Object.fromEntries(
    enterpriseNames.flatMap((name) => {
      const value = name === "manager" ? part(extension[name])["value"] : extension[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/**
 * The account's attributes with those of the extension in place of the ones that the directory wrote before: what the organisation
 * has given the user itself stays, as scopes may tell it.
 */
export const withEnterprise = (
  attributes: Readonly<Record<string, unknown>>,
  enterprise: Readonly<Record<string, unknown>>,
  before: Resource,
): Record<string, unknown> => {
  const written = enterpriseOf(before);
  return {
    ...Object.fromEntries(Object.entries(attributes).filter(([name]) => !Object.hasOwn(written, name))),
    ...enterprise,
  };
};

/** The profile's details likewise: what the directory wrote before and no longer has is gone. */
export const withDetails = (
  present: ProfileDetails,
  details: ProfileDetails,
  before: Resource,
): ProfileDetails => {
  const written = detailsOf(before, part(before["name"]));
  return {
    ...Object.fromEntries(Object.entries(present).filter(([name]) => !Object.hasOwn(written, name))),
    ...details,
  };
};

export interface ShownAccount {
  readonly email: string;
  readonly firstname: string;
  readonly surname: string;
  readonly phone: string | null;
  readonly locale: string | null;
  readonly active: boolean;
}

/** A user whom no connection provisions, as a resource. */
export function resourceOfAccount({
  email,
  firstname,
  surname,
  phone,
  locale,
  active,
}: ShownAccount): Resource {
  const formatted = [firstname, surname].filter((one) => one !== "").join(" ");
  return {
    userName: email,
    ...(formatted !== "" && {
      name: {
        formatted,
        ...(firstname !== "" && { givenName: firstname }),
        ...(surname !== "" && { familyName: surname }),
      },
      displayName: formatted,
    }),
    ...(locale !== null && { locale }),
    active,
    emails: [{ value: email, type: "work", primary: true }],
    ...(phone !== null && { phoneNumbers: [{ value: phone, type: "work", primary: true }] }),
  };
}

/** The resource as it was written, where the account has not been changed since by another way. */
export function resourceWithAccount(resource: Resource, account: ShownAccount): Resource {
  const written = accountOf(resource);
  const name = part(resource["name"]);
  const { firstname, surname } = account;
  const isRenamed = written.profile.firstname !== firstname || written.profile.surname !== surname;
  return {
    ...resource,
    ...(isRenamed && { name: { ...name, givenName: firstname, familyName: surname } }),
    ...(written.email !== account.email && { emails: withEmail(resource, account.email) }),
    active: account.active,
  };
}

const withEmail = (resource: Resource, email: string): unknown[] => {
  const chosen = chosenOf(resource, "emails");
  const others = (Array.isArray(resource["emails"]) ? resource["emails"] : []).filter(
    (one) => one !== chosen,
  );
  return [{ ...(chosen ?? { type: "work", primary: true }), value: email }, ...others];
};
