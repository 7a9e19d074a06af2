/** A link of a mail as a call names it: looked at, and completed once. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { completeAction } from "../../../core/actions/complete-action.ts";
import { type OpenedAction, openAction } from "../../../core/actions/opened-action.ts";
import { needsNewPassword } from "../../../core/actions/user-action.ts";
import type { SystemAccountCaller } from "../../../core/system-accounts/caller.ts";
import { messages, preferredLocales } from "../../../html/messages/messages.ts";
import { invalid, notFound } from "../../../http/api/api-error.ts";
import type { Answer } from "../../../http/api/api-route.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import type { LegacyDeps } from "../legacy-deps.ts";
import { gone, withLimits } from "../refusals.ts";
import { requireGoodPassword } from "../registration.ts";

export interface LinkCall {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly caller: SystemAccountCaller | undefined;
  readonly id: string;
  readonly type: string;
}

/** Whoever would take a page gets one: scanners of mails say that they read everything. */
const isProgram = ({ caller, request: { headers } }: LinkCall): boolean =>
  caller !== undefined ||
  (/\bapplication\/json\b/i.test(headers.accept ?? "") && !/\bhtml\b/i.test(headers.accept ?? ""));

/** A program completes it; a browser is sent to its page. */
export async function completeByGet(deps: LegacyDeps, asked: LinkCall): Promise<Answer> {
  if (isProgram(asked)) return completeLink(deps, asked, await openedLink(deps, asked), undefined);
  const { request, reply } = asked;
  const action = await openAction(deps, asked);
  if (action && action !== "expired") {
    await reply.header("cache-control", "no-store").redirect(pageOf(action), 303);
    return { status: 303, isSent: true };
  }
  const { explanation } = messages(
    preferredLocales(undefined, request.headers["accept-language"]),
  ).brokenLink;
  const status = action ? 410 : 404;
  await deps.showError(request, reply, { status, message: explanation });
  return { status, isSent: true };
}

/** Where a person goes on; VerifyEmail and ResetPassword have their pages beside the sign-in. */
function pageOf({ id, action, organisation }: OpenedAction): string {
  const place = `/oauth/${organisation.id}`;
  if (action.type === "ResetPassword") return `${place}/recovery/${id}`;
  const isOfUser = action.type === "VerifyEmail" && !action.data.registration;
  return isOfUser ? `${place}/verify-email/${id}` : `${place}/action/${id}/${action.type}`;
}

/** @throws ApiError 404, 410 */
export async function openedLink(deps: LegacyDeps, asked: LinkCall): Promise<OpenedAction> {
  const action = await openAction(deps, asked);
  if (action === "expired") throw gone();
  const { caller } = asked;
  if (!action || (caller && caller.organisation.id !== action.organisation.id)) throw notFound();
  return action;
}

/** @throws ApiError 404 when it is used meanwhile, 422 for a password that cannot be one */
export async function completeLink(
  deps: LegacyDeps,
  { request }: LinkCall,
  opened: OpenedAction,
  newPassword: string | undefined,
): Promise<Answer> {
  const { id, action } = opened;
  const passwordHash = await hashFor(deps, opened, newPassword);
  const userAgent = request.headers["user-agent"];
  const origin = { address: addressOf(request), ...(userAgent === undefined ? {} : { userAgent }) };
  const completion = { action, id, origin, ...(passwordHash === undefined ? {} : { passwordHash }) };
  if (!(await completeAction(deps, completion))) throw notFound();
  return { status: 200, body: { Type: action.type, Completed: true } };
}

async function hashFor(
  { passwords }: LegacyDeps,
  { action, organisation, about }: OpenedAction,
  password: string | undefined,
): Promise<string | undefined> {
  const path = "/NewPassword";
  if (!needsNewPassword(action.type)) {
    if (password !== undefined) throw invalid([{ path, message: "is not expected here" }]);
    return undefined;
  }
  if (password === undefined) throw invalid([{ path, message: "is missing: send it by POST" }]);
  await requireGoodPassword(password, organisation, about, path);
  return withLimits(() => passwords.hash(password));
}
