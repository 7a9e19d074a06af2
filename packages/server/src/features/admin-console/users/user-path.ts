/** The member in an address, the addresses of their pages, and what no administrator may do to a member. */
import { isUuid } from "@signet/protocol/hash";
import type { Encryption } from "../../../core/encryption/encryption.ts";
import type { Outbox } from "../../../core/mail/outbox.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import type { PasswordHasher } from "../../../core/passwords/password-hasher.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import type { User } from "../../../core/users/user.ts";
import { findUser } from "../../../core/users/users.store.ts";
import type { FormFailure } from "../../../html/components/record-form.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { NotFound } from "../../../http/errors.ts";
import { type ConsoleDeps, consolePath, requireId, type Visit } from "../../../page-kit/page.ts";

export interface UsersDeps extends ConsoleDeps {
  readonly passwords: PasswordHasher;
  readonly outbox: Outbox;
  readonly encryption: Encryption;
}

type OrganisationId = Pick<Organisation, "id">;

export const userPath = (organisation: OrganisationId, id: string, rest = ""): string =>
  consolePath(organisation, `/users/${id}${rest}`);

export async function findMember(
  { database }: Pick<ConsoleDeps, "database">,
  organisation: OrganisationId,
  { id = "" }: Readonly<Record<string, string>>,
): Promise<User | undefined> {
  return isUuid(id) ? findUser(database.query, organisation.id, id) : undefined;
}

/** @throws NotFound */
export async function requireMember(deps: Pick<ConsoleDeps, "database">, visit: Visit): Promise<User> {
  const user = await findMember(deps, visit.organisation, { id: requireId(visit) });
  if (!user) throw new NotFound("user");
  return user;
}

/** @throws NotFound for guests too: their accounts are changed at home */
export async function requireOwnUser(deps: Pick<UsersDeps, "database">, visit: Visit): Promise<User> {
  const user = await requireMember(deps, visit);
  if (isGuest(user)) throw new NotFound("user");
  return user;
}

export const isGuest = ({ homeOrgId, orgId }: User): boolean => homeOrgId !== orgId;

/** The name, else the email address. */
export const displayName = ({
  firstname,
  surname,
  email,
}: Pick<User, "firstname" | "surname" | "email">): string => `${firstname} ${surname}`.trim() || email;

export const listCrumb = (organisation: OrganisationId, { console: { frame } }: Messages) => ({
  label: frame.pages.users,
  uri: consolePath(organisation, "/users"),
});

/** For pages below a member's own. */
export const userCrumbs = (organisation: OrganisationId, user: User, messages: Messages) => [
  listCrumb(organisation, messages),
  { label: displayName(user), uri: userPath(organisation, user.id) },
];

/** Administrators do not lock themselves out: another one has to. */
export function ownAccountRefusal(
  { user }: SignedIn,
  { id }: Pick<User, "id">,
  { console: { users } }: Messages,
): FormFailure | undefined {
  return user.id === id
    ? { kind: "refused", title: users.self.refused, text: users.self.refusedText }
    : undefined;
}

export const lastAdministratorRefusal = ({ console: { users } }: Messages): FormFailure => ({
  kind: "refused",
  title: users.last.title,
  text: users.last.text,
});
