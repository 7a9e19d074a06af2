/** A link as it was opened: whose account it is about, and whether it can still do anything. */
import type { Database } from "../../db/open.ts";
import type { Organisation } from "../organisations/organisation.ts";
import type { OrganisationDirectory } from "../organisations/organisations.ts";
import type { User } from "../users/user.ts";
import { findUser } from "../users/users.store.ts";
import { type ActionDeps, findLink } from "./actions.ts";
import { type ActionType, actionTypes, type UserAction } from "./user-action.ts";

export interface OpenedActionDeps extends ActionDeps {
  readonly database: Database;
  readonly organisations: OrganisationDirectory;
}

export interface OpenedAction {
  /** As it stood in the link. */
  readonly id: string;
  readonly action: UserAction;
  readonly organisation: Organisation;
  /** What a new password must not be made of; the first is the address. */
  readonly about: readonly string[];
  /** Whose link it is; there is no language of an account that there is not yet. */
  readonly reader: Pick<User, "locale">;
}

export const isActionType = (type: string): type is ActionType => actionTypes.some((one) => one === type);

/**
 * Looks without using. @returns undefined for a link that is unknown, used, of another type, or whose account is not as
 * it was; one answer for all of these
 */
export async function openAction(
  deps: OpenedActionDeps,
  { id, type }: { id: string; type: string },
): Promise<OpenedAction | "expired" | undefined> {
  if (!isActionType(type)) return undefined;
  const action = await findLink(deps.database.query, deps, { id, type });
  if (!action || action === "expired") return action;
  const organisation = await deps.organisations.find(action.orgId);
  const account = organisation && (await accountOf(deps, action));
  return organisation && account && { id, action, organisation, ...account };
}

async function accountOf(
  { database, organisations }: OpenedActionDeps,
  { orgId, userId, data }: UserAction,
): Promise<Pick<OpenedAction, "about" | "reader"> | undefined> {
  const { registration, homeOrgId = orgId } = data;
  if (registration)
    return {
      about: [data.email, registration.firstname, registration.surname],
      reader: { locale: null },
    };
  if (homeOrgId !== orgId && !(await organisations.find(homeOrgId))) return undefined;
  const user = await findUser(database.query, homeOrgId, userId);
  if (!user || user.disabledAt !== null) return undefined;
  // The link is proof of the mailbox that it was sent to, and of no other.
  if (user.email !== data.email) return undefined;
  return { about: [user.email, user.firstname, user.surname], reader: user };
}
