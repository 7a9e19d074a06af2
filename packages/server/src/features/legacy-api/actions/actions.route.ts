/**
 * Email links by API: Action/{id}/{type}, its Requirement, and Register/Complete/{key}. The link is the credential. A browser
 * gets a page with a button and completes nothing, because mail scanners follow links too. An API client identifies itself by
 * a signature or by `Accept: application/json`.
 */
import type { FastifyReply, FastifyRequest } from "fastify";
import Type from "typebox";
import { type OpenedAction, openAction } from "../../../core/actions/actions.ts";
import { completeAction } from "../../../core/actions/complete-action.ts";
import { linkPagePath } from "../../../core/actions/link-address.ts";
import { actionTypes, needsNewPassword } from "../../../core/actions/user-action.ts";
import type { SystemAccountCaller } from "../../../core/system-accounts/system-account.ts";
import { messages, preferredLocales } from "../../../html/messages/messages.ts";
import { invalid, notFound } from "../../../http/api/api-error.ts";
import { type Answer, type ApiScope, apiRoute } from "../../../http/api/api-route.ts";
import { strictObject } from "../../../http/api/schemas.ts";
import { wireTime } from "../../../http/api/times.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import { isProgram } from "../../../http/program.ts";
import { expiredError, type LegacyDeps, linkAuthenticator } from "../legacy-deps.ts";
import { requireAcceptablePassword } from "../registration.ts";

const typeSchema = Type.Union(actionTypes.map((type) => Type.Literal(type)));
const completed = {
  200: {
    description: "Completed; the link is used",
    schema: Type.Object({ Type: typeSchema, Completed: Type.Literal(true) }),
  },
} as const;
const requirement = {
  200: {
    description: "The required input",
    schema: Type.Object({
      Type: typeSchema,
      Requires: Type.Array(Type.Literal("NewPassword")),
      ExpiresAt: Type.String({ format: "date-time" }),
    }),
  },
} as const;
const body = strictObject({ NewPassword: Type.Optional(Type.String()) });

const shared = { tag: "Authentication", credential: "link" } as const;

const linkParameters = ({ id = "", type = "" }: Readonly<Record<string, string>>) => ({ id, type });
const registrationParameters = ({ key = "" }: Readonly<Record<string, string>>) => ({
  id: key,
  type: "VerifyEmail",
});

export function actionRoutes(api: ApiScope, deps: LegacyDeps): void {
  getRoutes(api, deps);
  postRoute(api, deps);
  registrationRoute(api, deps);
  requirementRoute(api, deps);
}

function getRoutes(api: ApiScope, deps: LegacyDeps): void {
  const operation = { ...shared, method: "GET", answers: completed } as const;
  apiRoute(api, {
    ...operation,
    path: "/legacy/api/Authentication/Action/:id/:type",
    operationId: "completeAction",
    errors: [410],
    summary: "Complete an email link; browsers get a page instead",
    authenticator: linkAuthenticator(deps),
    handler: ({ params, ...call }) => completeOrRedirect(deps, { ...call, ...linkParameters(params) }),
  });
  apiRoute(api, {
    ...operation,
    path: "/legacy/api/Authentication/User/Register/Complete/:key",
    operationId: "completeRegistration",
    errors: [410],
    summary: "Verify the address of a registration; browsers get a page instead",
    description:
      "With a signature the account has the registration's password. Without one it has none: set it by POST, or later by a reset.",
    authenticator: linkAuthenticator(deps),
    handler: ({ params, ...call }) =>
      completeOrRedirect(deps, { ...call, ...registrationParameters(params) }),
  });
}

function postRoute(api: ApiScope, deps: LegacyDeps): void {
  apiRoute(api, {
    ...shared,
    method: "POST",
    path: "/legacy/api/Authentication/Action/:id/:type",
    operationId: "completeActionWithInput",
    errors: [410],
    summary: "Complete an email link with its required input",
    body,
    bodyOptional: true,
    example: { NewPassword: "plum tractor ninety" },
    answers: completed,
    authenticator: linkAuthenticator(deps),
    handler: async ({ params, body: { NewPassword }, ...rest }) => {
      const call = { ...rest, ...linkParameters(params) };
      return completeLink(deps, call, await requireLink(deps, call), NewPassword);
    },
  });
}

function registrationRoute(api: ApiScope, deps: LegacyDeps): void {
  apiRoute(api, {
    ...shared,
    method: "POST",
    path: "/legacy/api/Authentication/User/Register/Complete/:key",
    operationId: "completeRegistrationWithPassword",
    errors: [410],
    summary: "Verify the address of a registration and set the password",
    body,
    bodyOptional: true,
    example: { NewPassword: "plum tractor ninety" },
    answers: completed,
    authenticator: linkAuthenticator(deps),
    handler: async ({ params, body: { NewPassword }, ...rest }) => {
      const call = { ...rest, ...registrationParameters(params) };
      return completeLink(deps, call, await requireLink(deps, call), NewPassword);
    },
  });
}

function requirementRoute(api: ApiScope, deps: LegacyDeps): void {
  apiRoute(api, {
    ...shared,
    method: "GET",
    path: "/legacy/api/Authentication/Action/:id/:type/Requirement",
    operationId: "getActionRequirement",
    errors: [410],
    summary: "Get the input that an email link requires; changes nothing",
    answers: requirement,
    authenticator: linkAuthenticator(deps),
    handler: async ({ params, ...call }) => {
      const { action } = await requireLink(deps, { ...call, ...linkParameters(params) });
      const isComplete = registeredPassword(call.caller, action) !== undefined;
      const requires = needsNewPassword(action) && !isComplete ? ["NewPassword"] : [];
      const expires = wireTime(action.expiresAt);
      return { status: 200, body: { Type: action.type, Requires: requires, ExpiresAt: expires } };
    },
  });
}

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
    await reply.header("cache-control", "no-store").redirect(linkPagePath(action), 303);
    return { status: 303, isSent: true };
  }
  // Nothing is told that the page wouldn't tell.
  if (isProgram(request)) await requireLink(deps, link);
  const { explanation } = messages(
    preferredLocales(undefined, request.headers["accept-language"]),
  ).brokenLink;
  const status = action ? 410 : 404;
  await deps.showError(request, reply, { status, message: explanation });
  return { status, isSent: true };
}

/** @throws ApiError 404, 410 */
export async function requireLink(deps: LegacyDeps, link: LinkRequest): Promise<OpenedAction> {
  const action = await openAction(deps, link);
  if (action === "expired") throw expiredError();
  const { caller } = link;
  if (!action || (caller && caller.organisation.id !== action.organisation.id)) throw notFound();
  return action;
}

/**
 * GET verifies the address of a registration and creates the account, without a signature never with a password that was sent
 * before.
 * @throws ApiError 404 when the link was used meanwhile, 422 for an unacceptable password
 */
export async function completeLink(
  deps: LegacyDeps,
  { request, caller }: LinkRequest,
  opened: OpenedAction,
  newPassword: string | undefined,
): Promise<Answer> {
  const { id, action } = opened;
  const isVerification = request.method === "GET" && action.data.registration !== undefined;
  const passwordHash = isVerification
    ? registeredPassword(caller, action)
    : await hashNewPassword(deps, opened, newPassword);
  const userAgent = request.headers["user-agent"];
  const origin = { address: addressOf(request), ...(userAgent === undefined ? {} : { userAgent }) };
  const completion = { action, id, origin, ...(passwordHash === undefined ? {} : { passwordHash }) };
  if (!(await completeAction(deps, completion))) throw notFound();
  return { status: 200, body: { Type: action.type, Completed: true } };
}

/** Of a registration that the organisation's backend completes: no mail scanner and nobody's click signs a call. */
const registeredPassword = (
  caller: SystemAccountCaller | undefined,
  { data: { registration } }: OpenedAction["action"],
): string | undefined => (caller ? registration?.passwordHash : undefined);

async function hashNewPassword(
  { passwords }: LegacyDeps,
  { action, organisation, about }: OpenedAction,
  password: string | undefined,
): Promise<string | undefined> {
  const path = "/NewPassword";
  if (!needsNewPassword(action)) {
    if (password !== undefined) throw invalid([{ path, message: "is not expected" }]);
    return undefined;
  }
  if (password === undefined) throw invalid([{ path, message: "is required: send it by POST" }]);
  await requireAcceptablePassword(password, organisation, about, path);
  return passwords.hash(password, organisation.id);
}
