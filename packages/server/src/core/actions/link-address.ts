/** Where the links in emails lead: a short address, which redirects to the page of the link at its organisation. */
import type { ActionType, UserAction } from "./user-action.ts";

/** What stands first in the address: features/oauth/recovery/short-link.route.ts. */
const firstSegments: Readonly<Record<ActionType, string>> = {
  AcceptInvitation: "invite",
  AcceptRoaming: "invite",
  VerifyEmail: "verify",
  ResetPassword: "reset",
  ChangeEmail: "confirm",
  SignUp: "verify",
};

/** @returns the address for an email, from the id of the link */
export const linkAddress = (baseUrl: string, type: ActionType) => (id: string) =>
  `${baseUrl}/${firstSegments[type]}/${id}`;

/** The page of the link. @param link.id as in the address: a secret */
export function linkPagePath({ id, action }: { readonly id: string; readonly action: UserAction }): string {
  const place = `/oauth/${action.orgId}`;
  if (action.type === "ResetPassword") return `${place}/recovery/${id}`;
  if (action.type === "SignUp") return `${place}/sign-up/${id}`;
  const isOfUser = action.type === "VerifyEmail" && !action.data.registration;
  return isOfUser ? `${place}/verify-email/${id}` : `${place}/action/${id}/${action.type}`;
}
