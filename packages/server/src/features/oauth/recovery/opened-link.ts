/** The link of a mail as a browser has opened it. */
import { findOpenAction, type NamedAction } from "../../../core/actions/actions.ts";
import type { ActionType, UserAction } from "../../../core/actions/user-action.ts";
import type { User } from "../../../core/users/user.ts";
import { findUser } from "../../../core/users/users.store.ts";
import { type BrowserDeps, orgPath, show, type Visit } from "../authorize/browser.ts";
import { brokenLinkPage } from "./new-password.page.ts";
import { surroundings } from "./recovery-context.ts";

export interface OpenedLink {
  readonly named: NamedAction;
  readonly action: UserAction;
  readonly user: User;
}

/** Undefined when it cannot be used: unknown, used, expired, another organisation's, or its user is not as then. */
export async function openLink(
  deps: BrowserDeps,
  { organisation, request }: Visit,
  type: ActionType,
): Promise<OpenedLink | undefined> {
  const { id = "" } = request.params as { id?: string };
  const named = { orgId: organisation.id, type, id };
  const action = await findOpenAction(deps.database.query, deps, named);
  const user = action && (await findUser(deps.database.query, organisation.id, action.userId));
  if (!action || !user || user.disabledAt !== null) return undefined;
  // The link is proof of the mailbox that it was sent to, and of no other.
  return user.email === action.data.email ? { named, action, user } : undefined;
}

/** One answer for every reason. */
export async function showBrokenLink(deps: BrowserDeps, visit: Visit, type: ActionType): Promise<void> {
  const around = await surroundings(deps, visit, undefined, undefined);
  const page = brokenLinkPage({
    ...around,
    ...around.frame,
    ...(type === "ResetPassword" ? { anotherUri: orgPath(visit.organisation, "recovery") } : {}),
  });
  return show(visit, around.frame, page, { status: 404 });
}
