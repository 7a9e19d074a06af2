/** The pages of a member, and what no administrator may do to a member. */
import type { Encryption } from "../../../core/encryption/encryption.ts";
import type { Outbox } from "../../../core/mail/outbox.ts";
import type { PasswordHasher } from "../../../core/passwords/password-hasher.ts";
import type { RateLimits } from "../../../core/rate-limits/rate-limits.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import type { Role, User } from "../../../core/users/user.ts";
import { findUser } from "../../../core/users/users.store.ts";
import type { FormFailure } from "../../../html/components/record-form.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { NotFound } from "../../../http/errors.ts";
import type { Confirmation } from "../../../page-kit/confirmation.ts";
import type { ConsoleDeps, Visit } from "../../../page-kit/page.ts";
import { aboutRecord, recordPages } from "../../../page-kit/record-pages.ts";

export interface UsersDeps extends ConsoleDeps {
  readonly passwords: PasswordHasher;
  readonly outbox: Outbox;
  readonly encryption: Encryption;
  readonly rateLimits: Pick<RateLimits, "recovery-account">;
}

export const roles: readonly Role[] = ["Standard", "Administrator"];

/** The name, else the email address. */
export const displayName = ({
  firstname,
  surname,
  email,
}: Pick<User, "firstname" | "surname" | "email">): string => `${firstname} ${surname}`.trim() || email;

export const memberPages = recordPages("users", "/users", findUser, displayName);

/** @throws NotFound for guests too: their accounts are changed at home */
export async function requireOwnUser(deps: Pick<UsersDeps, "database">, visit: Visit): Promise<User> {
  const user = await memberPages.require(deps, visit);
  if (isGuest(user)) throw new NotFound("user");
  return user;
}

/** A guest whose home alone has disabled them is not. */
export const isDisabledHere = (user: User): boolean =>
  isGuest(user) ? user.membership.disabledAt !== undefined : user.disabledAt !== null;

export const isGuest = ({ homeOrgId, orgId }: User): boolean => homeOrgId !== orgId;

export type MemberConfirmation = Confirmation<UsersDeps, User>;

/**
 * What confirmations about a whole member share.
 * @param isFor there is no such page for other members
 * @param rest of the tab that they return to
 */
export const onMember = (
  isFor: (user: User, deps: UsersDeps) => boolean | Promise<boolean> = () => true,
  rest = "",
): Pick<MemberConfirmation, "current" | "backUri" | "breadcrumbs" | "load"> => ({
  ...aboutRecord(memberPages, (user: User) => user, rest),
  load: async (deps, organisation, params) => {
    const user = await memberPages.find(deps, organisation, params);
    return user && (await isFor(user, deps)) ? user : undefined;
  },
});

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
