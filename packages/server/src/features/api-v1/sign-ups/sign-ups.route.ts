/** /api/v1/organisations/{org}/sign-ups: who has confirmed an address and waits for an administrator (connections.md §1, §6). */
import Type from "typebox";
import { decideSignUp, SignUpRefused } from "../../../core/sign-ups/decide-sign-up.ts";
import {
  findSignUp,
  type SignUp,
  type SignUpState,
  signUpStates,
} from "../../../core/sign-ups/sign-ups.store.ts";
import { conflict, invalid } from "../../../http/api/api-error.ts";
import type { ApiScope } from "../../../http/api/api-route.ts";
import { actOf } from "../access.ts";
import type { ApiDeps } from "../frame/api-deps.ts";
import { type ApiResource, actRoute, getRoute, listRoute } from "../frame/resource-routes.ts";
import { rejection, signUpRecord, signUpSchema } from "./sign-up-record.ts";
import { listSignUpPage, signUpFields } from "./sign-ups-list.store.ts";

export function apiSignUpsRoutes(api: ApiScope, deps: ApiDeps): void {
  const signUps: ApiResource<SignUp> = {
    ...{ api, deps, tag: "API v1: organisation", one: "sign-up", many: "sign-ups" },
    reads: ["signet:organisation:read"],
    writes: ["signet:organisation:write"],
    ...{ schema: signUpSchema, record: signUpRecord, toAnswer },
  };
  listRoute(
    signUps,
    "/api/v1/organisations/:org/sign-ups",
    {
      ...{ operationId: "apiListSignUps", summary: "List sign-ups for approval", fields: signUpFields },
      query: { state: Type.Optional(Type.Enum([...signUpStates])) },
      description: "What is decided is listed for 30 days more.",
    },
    ({ orgId, list, query }) =>
      listSignUpPage(deps.database.query, orgId, list, {
        state: query["state"] as SignUpState | undefined,
        now: deps.clock(),
      }),
  );
  getRoute(
    signUps,
    "/api/v1/organisations/:org/sign-ups/:id",
    { operationId: "apiReadWaitingSignUp", summary: "Get a sign-up" },
    async ({ orgId, id }) => {
      const found = await findSignUp(deps.database.query, { orgId, id });
      return found && found.expiresAt > deps.clock() ? found : undefined;
    },
  );
  actRoutes(signUps);
}

function actRoutes(signUps: ApiResource<SignUp>): void {
  actRoute(
    signUps,
    "/api/v1/organisations/:org/sign-ups/:id/approve",
    {
      ...{
        operationId: "apiApproveSignUp",
        summary: "Approve a sign-up: its account is made",
        errors: [409],
      },
      description:
        "The user is told by email. Again, it changes nothing. 409 when it is rejected, or the address has an account by now.",
    },
    (inside, { caller, id, check }) =>
      decideSignUp(inside, { ...actOf(caller), id, check, decision: "approved" }),
  );
  actRoute(
    signUps,
    "/api/v1/organisations/:org/sign-ups/:id/reject",
    {
      ...{ operationId: "apiRejectSignUp", summary: "Reject a sign-up", errors: [409] },
      ...{ body: rejection, example: { reason: "Not a customer" } },
      description:
        "The person is told by email, without the reason. Again, it changes nothing, the reason neither. 409 when it is approved.",
    },
    (inside, { caller, id, check, body: { reason } }) =>
      decideSignUp(inside, {
        ...{ ...actOf(caller), id, check, decision: "rejected" },
        ...(reason === undefined ? {} : { reason }),
      }),
  );
}

function toAnswer(error: unknown): never {
  if (!(error instanceof SignUpRefused)) throw error;
  if (error.code === "invalid-reason") throw invalid([{ path: "/reason", message: error.message }]);
  throw conflict(`${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`);
}
