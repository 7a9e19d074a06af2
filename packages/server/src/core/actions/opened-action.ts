/** An opened link: its account, and whether it still works. */
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
  /** From the link. */
  readonly id: string;
  readonly action: UserAction;
  readonly organisation: Organisation;
  /** What a new password must not contain; the email address comes first. */
  readonly about: readonly string[];
  /** The recipient; a registration has no account locale yet. */
  readonly reader: Pick<User, "locale">;
}

export const isActionType = (type: string): type is ActionType => actionTypes.some((one) => one === type);

/**
 * Reads a link without redeeming it.
 * @returns undefined when it is unknown, used, of another type, or its account has changed; indistinguishably
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
  // The link proves control of the address that it was sent to, and of no other.
  if (user.email !== data.email) return undefined;
  return { about: [user.email, user.firstname, user.surname], reader: user };
}
