/** /api/v1/organisations/{org}/connections/{id}/sign-ins: what came of the sign-ins of the last thirty days. */
import Type from "typebox";
import { findConnection } from "../../../core/connections/connections.store.ts";
import { isSignInConnection } from "../../../core/connections/sign-in/sign-in-connections.ts";
import {
  listConnectionSignIns,
  MAX_SIGN_INS,
  type SignInLogEntry,
} from "../../../core/connections/sign-in/sign-in-log.store.ts";
import { notFound } from "../../../http/api/api-error.ts";
import type { ApiScope } from "../../../http/api/api-route.ts";
import { idOf } from "../../../http/api/path-id.ts";
import { wireTime } from "../../../http/api/times.ts";
import type { ApiDeps } from "../frame/api-deps.ts";
import { type ApiResource, listRoute } from "../frame/resource-routes.ts";
import { memoryFields } from "../lists/list-fields.ts";
import { memoryPage } from "../lists/memory-list.ts";

const textOrNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description });
const outcome = Type.Enum(["succeeded", "failed"]);

const signInSchema = Type.Object(
  {
    ...{ id: Type.String({ format: "uuid" }), at: Type.String({ format: "date-time" }), outcome },
    reason: textOrNull("Of a failure, e.g. `nonce-mismatch`"),
    detail: textOrNull("What the provider said or lacked"),
    subject: textOrNull("The `sub` of the provider, once its signature was good"),
    email: textOrNull("As the provider claimed it"),
    reference: Type.String({ description: "Of the page that the user saw" }),
  },
  { title: "ApiConnectionSignIn" },
);

const fields = memoryFields({
  ...({ at: "time", outcome: "text", reason: "text", subject: "text", email: "text" } as const),
  reference: "text",
});

const record = ({ id, at, outcome, reason, detail, subject, email, reference }: SignInLogEntry) => ({
  ...{ id, at: wireTime(at), outcome, reason, detail, subject, email, reference },
});

export function apiConnectionSignInsRoutes(api: ApiScope, deps: ApiDeps): void {
  const signIns: ApiResource<SignInLogEntry> = {
    ...{ api, deps, tag: "API v1: connections", one: "sign-in", many: "sign-ins" },
    ...{ schema: signInSchema, record },
    reads: ["signet:connections:read"],
    writes: ["signet:connections:write"],
  };
  listRoute(
    signIns,
    "/api/v1/organisations/:org/connections/:id/sign-ins",
    {
      ...{
        operationId: "apiListConnectionSignIns",
        summary: "List the sign-ins of a connection, newest first",
      },
      ...{ fields, query: { outcome: Type.Optional(outcome) } },
      description: `Of the last thirty days, the last ${MAX_SIGN_INS}.`,
    },
    async ({ orgId, params, list, query }) => {
      const key = { orgId, id: idOf(params) };
      const { query: db } = deps.database;
      const connection = await findConnection(db, key);
      if (!connection || !isSignInConnection(connection)) throw notFound();
      const wanted = query["outcome"];
      const all = await listConnectionSignIns(db, key, { now: deps.clock(), outcome: wanted });
      return memoryPage(list, all, { fields, record });
    },
  );
}
