/** /api/v1/organisations/{org}/access: whether, and why, a subject may. */
import Type, { type Static } from "typebox";
import { answerAccess } from "../../../core/roles/access-answers.ts";
import { MAX_PATHS, reasons, stepTypes } from "../../../core/roles/access-paths.ts";
import { InvalidRole } from "../../../core/roles/role.ts";
import { invalid } from "../../../http/api/api-error.ts";
import { type ApiScope, apiRoute } from "../../../http/api/api-route.ts";
import { strictObject } from "../../../http/api/schemas.ts";
import { apiAuthenticator } from "../access.ts";
import type { ApiDeps } from "../frame/api-deps.ts";
import { subjectType } from "./role-record.ts";

const UUID = "^[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$";

const query = strictObject({
  subjectType: subjectType("`application`: acting on its own behalf"),
  subjectId: Type.String({ pattern: UUID }),
  applicationId: Type.Optional(
    Type.String({
      pattern: `${UUID}|^$`,
      description: "Whose roles, and whose access; left out: the organisation's own roles",
    }),
  ),
  permission: Type.Optional(Type.String({ maxLength: 129, description: "`resource:action`" })),
  role: Type.Optional(
    Type.String({
      maxLength: 64,
      description: "A key; neither: whether the subject may use the application",
    }),
  ),
});

const answer = Type.Object(
  {
    allowed: Type.Boolean(),
    reason: Type.Enum([...reasons]),
    paths: Type.Array(
      Type.Array(
        Type.Object({
          type: Type.Enum([...stepTypes]),
          id: Type.Optional(Type.String()),
          name: Type.String({ description: "Of a role its key" }),
        }),
      ),
      { description: `The shortest first, ${MAX_PATHS} at most` },
    ),
  },
  { title: "ApiAccess" },
);

export function apiAccessRoute(api: ApiScope, deps: ApiDeps): void {
  apiRoute(api, {
    ...{ tag: "API v1: roles", credential: "access-token", method: "GET" },
    path: "/api/v1/organisations/:org/access",
    operationId: "apiExplainAccess",
    summary: "Explain why a subject has a permission or a role, or may use an application",
    description: "Scope: `signet:roles:read`.",
    query,
    answers: { 200: { description: "Whether, why, and by which paths", schema: answer } },
    authenticator: apiAuthenticator(deps, "signet:roles:read"),
    handler: async ({ caller, query: sent }) => {
      const { subjectType: type, subjectId, applicationId, permission, role } = sent as Static<typeof query>;
      const question = {
        ...{ orgId: caller.organisation.id, subjectType: type, subjectId: subjectId.toLowerCase() },
        applicationId: applicationId?.toLowerCase() || undefined,
        ...{ permission: permission || undefined, role: role || undefined },
      };
      return { status: 200, body: await answerAccess(deps.database.query, question).catch(toAnswer) };
    },
  });
}

/** The members are parameters of the query. */
function toAnswer(error: unknown): never {
  if (!(error instanceof InvalidRole)) throw error;
  throw invalid(error.faults.map(({ path, message }) => ({ path: path.replace("/", "?"), message })));
}
