/** A user as API v1 shows it (api-v1.md, "Resources"). */
import Type from "typebox";
import type { CoreDeps } from "../../../core/core-deps.ts";
import type { DetailName } from "../../../core/users/profile/details.ts";
import type { User } from "../../../core/users/user.ts";
import { timeOrNull } from "../../../http/api/schemas.ts";
import { wireTime, wireTimeOrNull } from "../../../http/api/times.ts";
import { findUserState, type UserState } from "./user-state.store.ts";

/** Members of the record by the name that the profile has for them. */
export const detailMembers = {
  middleName: "middleName",
  nickname: "nickname",
  profileUrl: "profile",
  picture: "picture",
  website: "website",
  gender: "gender",
  birthdate: "birthdate",
  zoneinfo: "zoneinfo",
} as const satisfies Partial<Record<DetailName, string>>;

export const addressParts = ["streetAddress", "postalCode", "locality", "region", "country"] as const;

const text = (description: string) => Type.Union([Type.String({ description }), Type.Null()]);

/** What a PATCH may change beside the role and the attributes, each null when it is unset. */
export const profileMembers = {
  username: text("`preferred_username` in tokens"),
  firstname: text("At most 100 characters"),
  surname: text("At most 100 characters"),
  phone: text("Digits and separators"),
  locale: text("A language tag (RFC 5646)"),
  middleName: text("At most 100 characters"),
  nickname: text("At most 100 characters"),
  profile: text("URL of the profile page"),
  picture: text("URL of a picture"),
  website: text("URL"),
  gender: text("At most 100 characters"),
  birthdate: text("YYYY-MM-DD, 0000-MM-DD or YYYY"),
  zoneinfo: text("A name of the time zone database"),
};

export const addressMembers = {
  streetAddress: text("Several lines are separated by a line feed"),
  postalCode: text("At most 40 characters"),
  locality: text("City"),
  region: text("State, province or prefecture"),
  country: text("Country name"),
};

export const emailSchema = Type.String({
  description: "Changed, it counts as verified, and the former address is told",
});
export const roleSchema = Type.Union([Type.Literal("Standard"), Type.Literal("Administrator")]);
export const attributesSchema = Type.Record(Type.String(), Type.Unknown());

export const userSchema = Type.Object(
  {
    id: Type.String({ format: "uuid", description: "PermId: the `sub` of the user's tokens" }),
    email: Type.String(),
    emailVerified: Type.Boolean(),
    ...profileMembers,
    address: Type.Union([Type.Object(addressMembers), Type.Null()]),
    role: roleSchema,
    state: Type.Union([Type.Literal("active"), Type.Literal("disabled"), Type.Literal("invited")]),
    guest: Type.Boolean({ description: "The account belongs to another organisation" }),
    source: Type.Union([Type.Literal("local"), Type.Literal("scim")], {
      description: "`scim`: a connection provisions the user",
    }),
    connectionId: Type.Union([Type.String({ format: "uuid" }), Type.Null()]),
    externalId: Type.Union([Type.String({ description: "The connection's own id" }), Type.Null()]),
    identities: Type.Array(
      Type.Object({
        connectionId: Type.String({ format: "uuid" }),
        subject: Type.String({ description: "The `sub` of the identity provider" }),
      }),
      { description: "Who the user is at connections for signing in" },
    ),
    acceptedTerms: Type.Array(
      Type.Object({ version: Type.String(), acceptedAt: Type.String({ format: "date-time" }) }),
      { description: "The organisation's terms, the oldest first" },
    ),
    attributes: attributesSchema,
    membershipAttributes: attributesSchema,
    hasPassword: Type.Boolean(),
    secondFactors: Type.Array(Type.Union([Type.Literal("totp"), Type.Literal("passkey")])),
    lastSignInAt: timeOrNull,
    createdAt: Type.String({ format: "date-time" }),
    updatedAt: Type.String({ format: "date-time" }),
  },
  { title: "ApiUser" },
);

/** A user, with what a list has read of it already. */
export type ShownUser = User & { readonly state?: UserState | undefined };

export async function readUserRecord(user: ShownUser, { database, clock }: CoreDeps) {
  const { orgId, id: userId } = user;
  const state = user.state ?? (await findUserState(database.query, { orgId, userId }));
  return userRecord(user, state, clock());
}

/** @returns the record, without what the account's own organisation alone may know of a guest */
function userRecord(user: User, state: UserState, now: number) {
  const isGuest = user.homeOrgId !== user.orgId;
  const { id, details, membership } = user;
  const address = addressParts.some((part) => details[part] !== undefined)
    ? Object.fromEntries(addressParts.map((part) => [part, details[part] ?? null]))
    : null;
  const isInvited = !isGuest && (state.invitedUntil ?? 0) > now;
  return {
    id,
    email: user.email,
    emailVerified: user.emailVerified,
    username: user.username,
    firstname: user.firstname === "" ? null : user.firstname,
    surname: user.surname === "" ? null : user.surname,
    phone: user.phone === "" ? null : user.phone,
    locale: user.locale,
    ...detailRecord(user),
    address,
    role: user.role,
    state: user.disabledAt !== null ? "disabled" : isInvited ? "invited" : "active",
    guest: isGuest,
    ...sourceRecord(isGuest, state),
    identities: state.identities.map(({ connectionId, subject }) => ({ connectionId, subject })),
    acceptedTerms: state.acceptedTerms.map(({ version, acceptedAt }) => ({
      version,
      acceptedAt: wireTime(acceptedAt),
    })),
    attributes: isGuest ? {} : user.attributes,
    membershipAttributes: membership.attributes,
    hasPassword: !isGuest && state.hasPassword,
    secondFactors: isGuest ? [] : factorNames(state),
    lastSignInAt: wireTimeOrNull(state.lastSignInAt),
    createdAt: wireTime(user.createdAt),
    updatedAt: wireTime(user.profileChangedAt),
  };
}

function sourceRecord(isGuest: boolean, { connectionId, externalId }: UserState) {
  if (isGuest || connectionId === null) return { source: "local", connectionId: null, externalId: null };
  return { source: "scim", connectionId, externalId };
}

const detailRecord = ({ details }: User): Record<string, string | null> =>
  Object.fromEntries(
    Object.entries(detailMembers).map(([name, member]) => [member, details[name as DetailName] ?? null]),
  );

const factorNames = ({ hasTotp, hasPasskey }: UserState): string[] => [
  ...(hasTotp ? ["totp"] : []),
  ...(hasPasskey ? ["passkey"] : []),
];
