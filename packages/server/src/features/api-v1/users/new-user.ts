/** A new user: with a password, an invitation, or neither yet. */
import Type, { type Static } from "typebox";
import { inviteUser } from "../../../core/users/invitations/invitations.ts";
import { addUser } from "../../../core/users/new-account.ts";
import type { User } from "../../../core/users/user.ts";
import { findUser } from "../../../core/users/users.store.ts";
import type { InvalidUser } from "../../../core/users/users.ts";
import { ApiError, conflict, invalid, notFound } from "../../../http/api/api-error.ts";
import { strictObject } from "../../../http/api/schemas.ts";
import { type ApiCaller, actOf } from "../access.ts";
import type { ApiDeps } from "../frame/api-deps.ts";
import { changeUser, requireMayManage, type UserPatch, userPatch } from "./change-user.ts";

/** wire-contract.md §4, "Actions". */
export const INVITATION_MS = 7 * 86_400_000;

export const newUser = strictObject(
  {
    ...userPatch.properties,
    email: Type.String(),
    emailVerified: Type.Optional(
      Type.Boolean({ description: "Whether the address is known to be the user's" }),
    ),
    password: Type.Optional(
      Type.String({ description: "Without it nobody can sign in before an invitation" }),
    ),
    sendInvitation: Type.Optional(
      Type.Boolean({ description: "Sends a link for a password, which works for 7 days" }),
    ),
  },
  { title: "ApiNewUser" },
);

/** @param deps in a transaction. @throws ApiError; InvalidUser, UsernameTaken */
export async function createApiUser(
  deps: ApiDeps,
  caller: ApiCaller,
  body: Static<typeof newUser>,
): Promise<User> {
  const { email, emailVerified = false, password, sendInvitation = false, role = "Standard", ...rest } = body;
  requireMayManage(caller, role);
  if (sendInvitation && password !== undefined)
    throw invalid([{ path: "/sendInvitation", message: "asks for a password that is given already" }]);
  const { orgId: _, ...by } = actOf(caller);
  const person = { organisation: caller.organisation, email, firstname: "", surname: "", role, ...by };
  if (sendInvitation) requireMail(deps);
  const id = sendInvitation
    ? await inviteUser(deps, { ...person, isNew: true, lifetimeMs: INVITATION_MS })
    : await addUser(deps, { ...person, emailVerified, password });
  const patch = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  if (Object.keys(patch).length > 0)
    return changeUser(deps, caller, { id, patch: patch as UserPatch, check: async () => {} });
  const user = await findUser(deps.database.query, caller.organisation.id, id);
  if (!user) throw notFound();
  return user;
}

/** @throws ApiError 503 */
export function requireMail({ outbox }: ApiDeps): void {
  if (outbox.isOpen) return;
  throw new ApiError(503, "mail-not-set-up", "Mail is not set up", {
    detail: "This request sends an email, and no mail server is configured (SMTP_URL).",
  });
}

const memberOf = {
  "invalid-email": "/email",
  "invalid-name": "/firstname",
  "weak-password": "/password",
} as const;

/** What the core says of accounts, as the API tells it. */
export function toAccountFault(error: InvalidUser): ApiError {
  if (error.code === "email-taken") return conflict("The organisation has a user with this email address.");
  return invalid([{ path: memberOf[error.code], message: error.message }]);
}
