/** What can be done with a user, by the rules of the console: repeatable, and of the home organisation alone. */
import type { Static } from "typebox";
import Type from "typebox";
import { isClosedLink } from "../../../core/actions/actions.ts";
import { withPrecomputedHash } from "../../../core/passwords/password-hasher.ts";
import { resetFactors } from "../../../core/second-factors/changes.ts";
import { signOutEverywhere } from "../../../core/sessions/end-sessions.ts";
import { requestNewEmail, sendPasswordReset } from "../../../core/users/account-mails.ts";
import { resendInvitation } from "../../../core/users/invitations/invitations.ts";
import { lockUser } from "../../../core/users/lock-user.ts";
import type { User } from "../../../core/users/user.ts";
import { findUser } from "../../../core/users/users.store.ts";
import { setGuestStatus, setPassword, setUserStatus } from "../../../core/users/users.ts";
import { conflict } from "../../../http/api/api-error.ts";
import { strictObject } from "../../../http/api/schemas.ts";
import { type ApiCaller, actOf } from "../access.ts";
import type { ApiDeps } from "../frame/api-deps.ts";
import { type ApiResource, actRoute, type RecordCall } from "../frame/resource-routes.ts";
import { requireFewResends } from "../invitations/count-resend.ts";
import { foreignAccount, requireMayManage } from "./change-user.ts";
import { INVITATION_MS, requireMail } from "./new-user.ts";
import type { ShownUser } from "./user-record.ts";

type Acting = { readonly caller: ApiCaller; readonly user: User };
type Act<B = unknown> = (inside: ApiDeps, acting: Acting & { readonly body: B }) => Promise<unknown>;

const statusTo =
  (disabled: boolean): Act =>
  (inside, { caller, user }) => {
    const wanted = { ...actOf(caller), id: user.id, disabled };
    return user.homeOrgId === wanted.orgId ? setUserStatus(inside, wanted) : setGuestStatus(inside, wanted);
  };

const invite: Act = async (inside, { caller, user }) => {
  requireMail(inside);
  await requireFewResends(inside, user);
  const { orgId: _, ...by } = actOf(caller);
  if (!(await resendInvitation(inside, user, { ...by, lifetimeMs: INVITATION_MS })))
    throw conflict("The user has a password, or is disabled.");
};

const reset: Act = (inside, { caller, user }) => {
  const { orgId: _, ...by } = actOf(caller);
  return resetFactors(inside, { organisation: caller.organisation, user, ...by });
};

const signOut: Act = (inside, { caller, user }) =>
  signOutEverywhere(inside, { ...actOf(caller), userId: user.id });

const passwordBody = strictObject({
  password: Type.Optional(Type.String({ description: "Default: the user gets a link for a new one" })),
});

const resetPassword: Act<Static<typeof passwordBody>> = async (inside, { caller, user, body }) => {
  const { orgId: _, ...by } = actOf(caller);
  const { password } = body;
  if (password !== undefined) {
    const about = [user.email, user.firstname, user.surname];
    await setPassword(inside, { organisation: caller.organisation, id: user.id, password, about, ...by });
    return;
  }
  requireMail(inside);
  if (await isClosedToResets(inside, caller, user))
    throw conflict("The user signs in without a password: a link could set none.");
  await sendPasswordReset(inside, user, by);
};

const isClosedToResets = (
  { database }: ApiDeps,
  { organisation }: ApiCaller,
  { email }: User,
): Promise<boolean> => isClosedLink(database.query, organisation, { type: "ResetPassword", data: { email } });

const newAddress = strictObject({
  email: Type.String({ description: "Gets the link; the present address stays until it is used" }),
});

const changeEmail: Act<Static<typeof newAddress>> = async (inside, { caller, user, body }) => {
  const { orgId: _, ...by } = actOf(caller);
  requireMail(inside);
  await requestNewEmail(inside, user, { newEmail: body.email, ...by });
};

export function userActRoutes(users: ApiResource<ShownUser>): void {
  actRoute(
    users,
    "/api/v1/organisations/:org/users/:id/disable",
    {
      operationId: "apiDisableUser",
      summary: "Disable a user, or a guest here alone: sessions, tokens and links end at once",
    },
    performing(statusTo(true), { ofGuests: true }),
  );
  actRoute(
    users,
    "/api/v1/organisations/:org/users/:id/enable",
    { operationId: "apiEnableUser", summary: "Enable a user: nothing that was ended comes back" },
    performing(statusTo(false), { ofGuests: true }),
  );
  actRoute(
    users,
    "/api/v1/organisations/:org/users/:id/invite",
    {
      operationId: "apiInviteUser",
      summary: "Send an invitation, which replaces the one before",
      ...{ description: "Five an hour for each user.", errors: [429] },
    },
    performing(invite),
  );
  actRoute(
    users,
    "/api/v1/organisations/:org/users/:id/reset-factors",
    { operationId: "apiResetFactors", summary: "Remove the user's second factors" },
    performing(reset),
  );
  actRoute(
    users,
    "/api/v1/organisations/:org/users/:id/sign-out",
    { operationId: "apiSignOutUser", summary: "End all sessions and refresh tokens of the user here" },
    performing(signOut, { ofGuests: true }),
  );
  actRoute(
    users,
    "/api/v1/organisations/:org/users/:id/change-email",
    {
      operationId: "apiRequestNewEmail",
      summary: "Send a link to a new email address, which the user confirms; a PATCH changes it at once",
      ...{ body: newAddress, example: { email: "ada@lovelace.example" }, errors: [409] },
    },
    performing(changeEmail),
  );
  actRoute(
    users,
    "/api/v1/organisations/:org/users/:id/reset-password",
    {
      operationId: "apiResetPassword",
      summary: "Set a password, or send a link for a new one",
      body: passwordBody,
      example: {},
      prepare: ({ orgId, body: { password } }) => withPrecomputedHash(users.deps.passwords, password, orgId),
    },
    async (inside, { prepared: passwords, ...call }) =>
      performing(resetPassword)({ ...inside, passwords }, call),
  );
}

/** @param options.ofGuests whether it is about the membership, and not about the account */
const performing =
  <B extends object>(act: Act<B>, { ofGuests = false } = {}) =>
  async (inside: ApiDeps, call: RecordCall<ShownUser> & { readonly body: B }): Promise<User | undefined> => {
    const { orgId, id, caller, body } = call;
    const user = await lockUser(inside, { orgId, id });
    if (!user) return undefined;
    await call.check(user);
    requireMayManage(caller, user.role);
    if (!ofGuests && user.homeOrgId !== orgId) throw foreignAccount();
    await act(inside, { caller, user, body });
    return findUser(inside.database.query, orgId, id);
  };
