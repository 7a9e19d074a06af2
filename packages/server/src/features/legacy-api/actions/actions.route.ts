/**
 * Links of mails by call: Action/{id}/{type}, its Requirement, and Register/Complete/{key}. The link is the credential.
 * A browser that follows it gets a page with a button and completes nothing: mail scanners follow links too. A program
 * says what it is by its signature or by `Accept: application/json`.
 */
import Type from "typebox";
import { actionTypes, needsNewPassword } from "../../../core/actions/user-action.ts";
import { type ApiScope, apiRoute } from "../../../http/api/api-route.ts";
import { wireTime } from "../../../http/api/times.ts";
import { type LegacyDeps, linkDoor } from "../legacy-deps.ts";
import { completeByGet, completeLink, openedLink } from "./link-call.ts";

const typeSchema = Type.Union(actionTypes.map((type) => Type.Literal(type)));
const completed = {
  200: {
    description: "Done; the link works no more",
    schema: Type.Object({ Type: typeSchema, Completed: Type.Literal(true) }),
  },
} as const;
const requirement = {
  200: {
    description: "What completing it needs",
    schema: Type.Object({
      Type: typeSchema,
      Requires: Type.Array(Type.Literal("NewPassword")),
      ExpiresAt: Type.String({ format: "date-time" }),
    }),
  },
} as const;
const body = Type.Object({ NewPassword: Type.Optional(Type.String()) }, { additionalProperties: false });

const ACTION = "/legacy/api/Authentication/Action/:id/:type";

const shared = { tag: "Authentication", credential: "link" } as const;

const named = ({ id = "", type = "" }: Readonly<Record<string, string>>) => ({ id, type });

export function actionRoutes(api: ApiScope, deps: LegacyDeps): void {
  getRoutes(api, deps);
  postRoute(api, deps);
  requirementRoute(api, deps);
}

function getRoutes(api: ApiScope, deps: LegacyDeps): void {
  const operation = { ...shared, method: "GET", answers: completed } as const;
  apiRoute(
    api,
    linkDoor(deps),
    {
      ...operation,
      path: ACTION,
      operationId: "completeAction",
      errors: [410],
      summary: "Complete what a link of a mail is for; browsers get a page instead",
    },
    ({ params, ...call }) => completeByGet(deps, { ...call, ...named(params) }),
  );
  apiRoute(
    api,
    linkDoor(deps),
    {
      ...operation,
      path: "/legacy/api/Authentication/User/Register/Complete/:key",
      operationId: "completeRegistration",
      errors: [410],
      summary: "Confirm the address of a registration; browsers get a page instead",
    },
    ({ params, ...call }) => completeByGet(deps, { ...call, id: params["key"] ?? "", type: "VerifyEmail" }),
  );
}

function postRoute(api: ApiScope, deps: LegacyDeps): void {
  apiRoute(
    api,
    linkDoor(deps),
    {
      ...shared,
      method: "POST",
      path: ACTION,
      operationId: "completeActionWithInput",
      errors: [410],
      summary: "Complete what a link of a mail is for, with what it needs",
      body,
      bodyOptional: true,
      example: { NewPassword: "plum tractor ninety" },
      answers: completed,
    },
    async ({ params, body: { NewPassword }, ...rest }) => {
      const call = { ...rest, ...named(params) };
      return completeLink(deps, call, await openedLink(deps, call), NewPassword);
    },
  );
}

function requirementRoute(api: ApiScope, deps: LegacyDeps): void {
  apiRoute(
    api,
    linkDoor(deps),
    {
      ...shared,
      method: "GET",
      path: `${ACTION}/Requirement`,
      operationId: "getActionRequirement",
      errors: [410],
      summary: "What completing a link needs; changes nothing",
      answers: requirement,
    },
    async ({ params, ...call }) => {
      const { action } = await openedLink(deps, { ...call, ...named(params) });
      const requires = needsNewPassword(action.type) ? ["NewPassword"] : [];
      const expires = wireTime(action.expiresAt);
      return { status: 200, body: { Type: action.type, Requires: requires, ExpiresAt: expires } };
    },
  );
}
