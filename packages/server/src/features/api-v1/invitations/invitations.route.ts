/** /api/v1/organisations/{org}/invitations: people who are asked to come, and what became of it (connections.md §1). */
import { resendInvitation, withdrawInvitation } from "../../../core/users/invitations/invitations.ts";
import { lockUser } from "../../../core/users/lock-user.ts";
import type { User } from "../../../core/users/user.ts";
import { UsernameTaken } from "../../../core/users/username.ts";
import { InvalidUser } from "../../../core/users/users.ts";
import { conflict } from "../../../http/api/api-error.ts";
import type { ApiScope } from "../../../http/api/api-route.ts";
import { actOf } from "../access.ts";
import type { ApiDeps } from "../frame/api-deps.ts";
import {
  type ApiResource,
  actRoute,
  createRoute,
  deleteRoute,
  getRoute,
  listRoute,
  type RecordCall,
} from "../frame/resource-routes.ts";
import { requireMayManage } from "../users/change-user.ts";
import { INVITATION_MS, requireMail, toAccountFault } from "../users/new-user.ts";
import { requireFewResends } from "./count-resend.ts";
import {
  createdInvitation,
  type Invitation,
  invitationRecord,
  invitationSchema,
  newInvitation,
} from "./invitation-record.ts";
import { findShownInvitation, invitationFields, listInvitationPage } from "./invitations-list.store.ts";
import { createInvitation } from "./new-invitation.ts";

export function apiInvitationsRoutes(api: ApiScope, deps: ApiDeps): void {
  const invitations: ApiResource<Invitation> = {
    ...{ api, deps, tag: "API v1: invitations", one: "invitation", many: "invitations" },
    reads: ["signet:users:read"],
    writes: ["signet:users:write"],
    ...{ schema: invitationSchema, record: invitationRecord, toAnswer },
  };
  listRoute(
    invitations,
    "/api/v1/organisations/:org/invitations",
    { operationId: "apiListInvitations", summary: "List invitations", fields: invitationFields },
    ({ orgId, list }) => listInvitationPage(deps.database.query, orgId, list, deps.clock()),
  );
  getRoute(
    invitations,
    "/api/v1/organisations/:org/invitations/:id",
    { operationId: "apiReadInvitation", summary: "Get an invitation" },
    ({ orgId, id }) => findShownInvitation(deps.database.query, { orgId, id }),
  );
  createRoute(
    invitations,
    "/api/v1/organisations/:org/invitations",
    {
      operationId: "apiCreateInvitation",
      summary: "Invite somebody, by email or by a link that you hand over",
      description:
        "For an administrator `signet:organisation:write` too. The account is there at once; nobody can sign in to it before.",
      ...{ body: newInvitation, created: createdInvitation, errors: [403, 429] },
      example: {
        email: "grace@example.com",
        firstname: "Grace",
        surname: "Hopper",
        expiresInSeconds: 259_200,
      },
    },
    async (inside, { caller, body }) => {
      const { invitation, link } = await createInvitation(inside, caller, body);
      return link === undefined
        ? { row: invitation }
        : { row: invitation, members: { link }, shownOnce: ["link"] };
    },
  );
  endRoutes(invitations);
}

function endRoutes(invitations: ApiResource<Invitation>): void {
  deleteRoute(
    invitations,
    "/api/v1/organisations/:org/invitations/:id",
    {
      operationId: "apiDeleteInvitation",
      summary: "Withdraw an invitation: its link ends at once",
      done: "Withdrawn: it is listed, and its account stays without a way in",
    },
    async (inside, call) => {
      const locked = await lockInvited(inside, call, { mayBeWithdrawn: true });
      if (!locked) return false;
      if (locked.isWithdrawn) return true;
      const { orgId: _, ...by } = actOf(call.caller);
      return withdrawInvitation(inside, locked.user, { ...by, evenExpired: true });
    },
  );
  actRoute(
    invitations,
    "/api/v1/organisations/:org/invitations/:id/resend",
    {
      operationId: "apiResendInvitation",
      summary: "Send another link, which works for 7 days; the one before ends",
      description: "Five an hour for each user.",
      errors: [429],
    },
    async (inside, call) => {
      const locked = await lockInvited(inside, call);
      if (!locked) return undefined;
      requireMail(inside);
      const { orgId, id, caller } = call;
      await requireFewResends(inside, locked.user);
      const { orgId: _, ...by } = actOf(caller);
      if (!(await resendInvitation(inside, locked.user, { ...by, lifetimeMs: INVITATION_MS })))
        throw conflict("The user has a password, or is disabled.");
      return findShownInvitation(inside.database.query, { orgId, id });
    },
  );
}

/** @returns undefined when there is no such invitation. @throws ApiError 403, 409, 412 */
async function lockInvited(
  inside: ApiDeps,
  { orgId, id, caller, check }: RecordCall<Invitation>,
  { mayBeWithdrawn = false } = {},
): Promise<{ readonly user: User; readonly isWithdrawn: boolean } | undefined> {
  const found = await findShownInvitation(inside.database.query, { orgId, id });
  const user = found && (await lockUser(inside, { orgId, id: found.userId }));
  const invitation = user && (await findShownInvitation(inside.database.query, { orgId, id }));
  if (!invitation) return undefined;
  await check(invitation);
  requireMayManage(caller, user.role);
  const isWithdrawn = invitation.withdrawnAt !== null;
  if (invitation.acceptedAt !== null || (isWithdrawn && !mayBeWithdrawn))
    throw conflict("The invitation has been accepted or withdrawn.");
  return { user, isWithdrawn };
}

function toAnswer(error: unknown): never {
  if (error instanceof InvalidUser) throw toAccountFault(error);
  if (error instanceof UsernameTaken) throw conflict("The username belongs to another user.");
  throw error;
}
