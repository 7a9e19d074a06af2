/** Opening and completing an email link by API. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { type OpenedAction, openAction } from "../../../core/actions/actions.ts";
import { completeAction } from "../../../core/actions/complete-action.ts";
import { needsNewPassword } from "../../../core/actions/user-action.ts";
import type { SystemAccountCaller } from "../../../core/system-accounts/caller.ts";
import { messages, preferredLocales } from "../../../html/messages/messages.ts";
import { invalid, notFound } from "../../../http/api/api-error.ts";
import type { Answer } from "../../../http/api/api-route.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import type { LegacyDeps } from "../legacy-deps.ts";
import { requireAcceptablePassword } from "../registration.ts";
import { expiredError, withLimits } from "../responses.ts";

export interface LinkRequest {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly caller: SystemAccountCaller | undefined;
  readonly id: string;
  readonly type: string;
}

/** A client that accepts HTML gets a page: mail scanners accept everything. */
const isApiClient = ({ caller, request: { headers } }: LinkRequest): boolean =>
  caller !== undefined ||
  (/\bapplication\/json\b/i.test(headers.accept ?? "") && !/\bhtml\b/i.test(headers.accept ?? ""));

/** Completes the link for an API client; redirects a browser to the page of the link. */
export async function completeOrRedirect(deps: LegacyDeps, link: LinkRequest): Promise<Answer> {
  if (isApiClient(link)) return completeLink(deps, link, await requireLink(deps, link), undefined);
  const { request, reply } = link;
  const action = await openAction(deps, link);
  if (action && action !== "expired") {
    await reply.header("cache-control", "no-store").redirect(pagePath(action), 303);
    return { status: 303, isSent: true };
  }
  const { explanation } = messages(
    preferredLocales(undefined, request.headers["accept-language"]),
  ).brokenLink;
  const status = action ? 410 : 404;
  await deps.showError(request, reply, { status, message: explanation });
  return { status, isSent: true };
}

function pagePath({ id, action, organisation }: OpenedAction): string {
  const place = `/oauth/${organisation.id}`;
  if (action.type === "ResetPassword") return `${place}/recovery/${id}`;
  const isOfUser = action.type === "VerifyEmail" && !action.data.registration;
  return isOfUser ? `${place}/verify-email/${id}` : `${place}/action/${id}/${action.type}`;
}

/** @throws ApiError 404, 410 */
export async function requireLink(deps: LegacyDeps, link: LinkRequest): Promise<OpenedAction> {
  const action = await openAction(deps, link);
  if (action === "expired") throw expiredError();
  const { caller } = link;
  if (!action || (caller && caller.organisation.id !== action.organisation.id)) throw notFound();
  return action;
}

/** @throws ApiError 404 when the link was used meanwhile, 422 for an unacceptable password */
export async function completeLink(
  deps: LegacyDeps,
  { request }: LinkRequest,
  opened: OpenedAction,
  newPassword: string | undefined,
): Promise<Answer> {
  const { id, action } = opened;
  const passwordHash = await hashNewPassword(deps, opened, newPassword);
  const userAgent = request.headers["user-agent"];
  const origin = { address: addressOf(request), ...(userAgent === undefined ? {} : { userAgent }) };
  const completion = { action, id, origin, ...(passwordHash === undefined ? {} : { passwordHash }) };
  if (!(await completeAction(deps, completion))) throw notFound();
  return { status: 200, body: { Type: action.type, Completed: true } };
}

async function hashNewPassword(
  { passwords }: LegacyDeps,
  { action, organisation, about }: OpenedAction,
  password: string | undefined,
): Promise<string | undefined> {
  const path = "/NewPassword";
  if (!needsNewPassword(action.type)) {
    if (password !== undefined) throw invalid([{ path, message: "is not expected" }]);
    return undefined;
  }
  if (password === undefined) throw invalid([{ path, message: "is required: send it by POST" }]);
  await requireAcceptablePassword(password, organisation, about, path);
  return withLimits(() => passwords.hash(password));
}
