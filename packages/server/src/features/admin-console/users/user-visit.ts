/** The member in an address, and the addresses of their pages. */
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
import { type ConsoleDeps, consolePath, type Visit } from "../../../page-kit/visit.ts";

export interface UsersDeps extends ConsoleDeps {
  readonly passwords: PasswordHasher;
  readonly outbox: Outbox;
  readonly encryption: Encryption;
}

type Named = Pick<Organisation, "id">;

/** Below the console, for acts that go on from there. */
export const userRest = (id: string, rest = ""): string => `/users/${id}${rest}`;

export const userPath = (organisation: Named, id: string, rest = ""): string =>
  consolePath(organisation, userRest(id, rest));

/** @throws NotFound for what is no id */
export function idIn({ request }: Pick<Visit, "request">): string {
  const { id = "" } = request.params as Record<string, string>;
  if (!isUuid(id)) throw new NotFound("user");
  return id.toLowerCase();
}

/** @returns undefined for what is no id, and for whom the organisation does not know */
export async function findMember(
  { database }: Pick<ConsoleDeps, "database">,
  organisation: Named,
  id: string | undefined,
): Promise<User | undefined> {
  return id !== undefined && isUuid(id) ? findUser(database.query, organisation.id, id) : undefined;
}

/** @throws NotFound */
export async function memberHere(deps: Pick<ConsoleDeps, "database">, visit: Visit): Promise<User> {
  const user = await findMember(deps, visit.organisation, idIn(visit));
  if (!user) throw new NotFound("user");
  return user;
}

export const isGuest = ({ homeOrgId, orgId }: User): boolean => homeOrgId !== orgId;

/** What somebody is called: the name, else the address. */
export const nameOf = ({
  firstname,
  surname,
  email,
}: Pick<User, "firstname" | "surname" | "email">): string => `${firstname} ${surname}`.trim() || email;

export const listCrumb = (organisation: Named, { console: { frame } }: Messages) => ({
  label: frame.pages.users,
  uri: consolePath(organisation, "/users"),
});

/** For pages below a member's own. */
export const userCrumbs = (organisation: Named, user: User, messages: Messages) => [
  listCrumb(organisation, messages),
  { label: nameOf(user), uri: userPath(organisation, user.id) },
];

/** What would lock the one who acts out of the console is another administrator's to do. */
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
