/**
 * Email links by API: Action/{id}/{type}, its Requirement, and Register/Complete/{key}. The link is the credential. A browser
 * gets a page with a button and completes nothing, because mail scanners follow links too. An API client identifies itself by
 * a signature or by `Accept: application/json`.
 */
import Type from "typebox";
import { actionTypes, needsNewPassword } from "../../../core/actions/user-action.ts";
import { type ApiScope, apiRoute } from "../../../http/api/api-route.ts";
import { wireTime } from "../../../http/api/times.ts";
import { type LegacyDeps, linkAuthenticator } from "../legacy-deps.ts";
import { completeLink, completeOrRedirect, requireLink } from "./link-call.ts";

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
const body = Type.Object({ NewPassword: Type.Optional(Type.String()) }, { additionalProperties: false });

const shared = { tag: "Authentication", credential: "link" } as const;

const linkParameters = ({ id = "", type = "" }: Readonly<Record<string, string>>) => ({ id, type });

export function actionRoutes(api: ApiScope, deps: LegacyDeps): void {
  getRoutes(api, deps);
  postRoute(api, deps);
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
    authenticator: linkAuthenticator(deps),
    handler: ({ params, ...call }) =>
      completeOrRedirect(deps, { ...call, id: params["key"] ?? "", type: "VerifyEmail" }),
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
      const requires = needsNewPassword(action.type) ? ["NewPassword"] : [];
      const expires = wireTime(action.expiresAt);
      return { status: 200, body: { Type: action.type, Requires: requires, ExpiresAt: expires } };
    },
  });
}
