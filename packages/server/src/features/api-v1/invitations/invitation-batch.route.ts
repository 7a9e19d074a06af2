/** POST /api/v1/organisations/{org}/invitations/batch: up to 1,000 people at once, each for itself. */
import { setImmediate } from "node:timers/promises";
import Type, { type Static } from "typebox";
import { emailKey } from "../../../core/users/user.ts";
import { UsernameTaken } from "../../../core/users/username.ts";
import { InvalidUser } from "../../../core/users/users.ts";
import { inSavepoint } from "../../../db/savepoint.ts";
import { ApiError } from "../../../http/api/api-error.ts";
import { type ApiScope, apiRoute } from "../../../http/api/api-route.ts";
import { noParameters, strictObject } from "../../../http/api/schemas.ts";
import { validator } from "../../../http/api/validation.ts";
import { type ApiCaller, apiAuthenticator, authenticatedFirst } from "../access.ts";
import { type ApiDeps, inTransaction } from "../frame/api-deps.ts";
import { scopeText } from "../frame/operation-texts.ts";
import { requireMayManage } from "../users/change-user.ts";
import { MAX_ITEMS, newInvitation } from "./invitation-record.ts";
import { acceptInvitationCsv } from "./invitations-csv.ts";
import { createInvitation } from "./new-invitation.ts";

const MAX_BYTES = 1024 * 1024;
/** As many at once as others can wait for: a transaction of SQLite keeps all of them waiting. */
const PORTION = 10;
const scopes = ["signet:users:write"] as const;

/** Items are checked one by one: a fault of one is no fault of the others. */
const batch = strictObject(
  {
    items: Type.Array(Type.Object({}, { additionalProperties: true }), {
      minItems: 1,
      maxItems: MAX_ITEMS,
      description: "As of an invitation; `sendEmail` false is refused, as nobody would see the links",
    }),
  },
  { title: "ApiInvitationBatch" },
);

const result = Type.Object(
  {
    email: Type.Union([Type.String(), Type.Null()], {
      description: "As it was sent; null when it is no text",
    }),
    status: Type.Enum(["created", "exists", "invalid"]),
    id: Type.Union([Type.String(), Type.Null()], { description: "Of the invitation that was created" }),
  },
  { title: "ApiInvitationResult" },
);

type Result = Static<typeof result>;

/** @param api of a scope of its own: it accepts CSV */
export function apiInvitationBatchRoute(api: ApiScope, deps: ApiDeps): void {
  acceptInvitationCsv(api.app, MAX_BYTES);
  apiRoute(api, {
    ...{ tag: "API v1: invitations", credential: "access-token", operationId: "apiInviteMany" },
    ...{ method: "POST", path: "/api/v1/organisations/:org/invitations/batch", query: noParameters },
    ...{ body: batch, bodyLimit: MAX_BYTES, errors: [403] },
    summary: "Invite up to 1,000 people; what is wrong with one leaves the others",
    description: `${scopeText(scopes)} For administrators \`signet:organisation:write\` too. Or \`text/csv\`: a header of members, then a person a line.`,
    example: { items: [{ email: "grace@example.com", firstname: "Grace" }, { email: "alan@example.com" }] },
    answers: {
      200: {
        description: "What became of each, in the order of the items",
        schema: Type.Object({ results: Type.Array(result) }, { title: "ApiInvitationResults" }),
      },
    },
    ...authenticatedFirst(apiAuthenticator(deps, ...scopes)),
    handler: async ({ caller, body: { items }, within }) => {
      // Before anything is made.
      for (const { role } of items as Array<{ role?: unknown }>)
        if (role === "Administrator") requireMayManage(caller, role);
      const results: Result[] = [];
      const ordered = inLockOrder(items);
      for (let start = 0; start < ordered.length; start += PORTION) {
        await inTransaction(deps, within, async (inside) => {
          for (const { item, at } of ordered.slice(start, start + PORTION))
            results[at] = await inviteOne(inside, caller, item);
        });
        await setImmediate();
      }
      return { status: 200, body: { results } };
    },
  });
}

/** Of two batches at once one waits for the other, whatever the order of their people is: neither deadlocks. */
const inLockOrder = (items: readonly object[]) =>
  items
    .map((item, at) => ({ item, at, key: emailKey(sentEmail(item) ?? "") }))
    .sort((one, other) => (one.key === other.key ? one.at - other.at : one.key < other.key ? -1 : 1));

const sentEmail = (item: object): string | null =>
  "email" in item && typeof item.email === "string" ? item.email : null;

const check = validator(newInvitation);

async function inviteOne(inside: ApiDeps, caller: ApiCaller, item: object): Promise<Result> {
  const sent = sentEmail(item);
  const result = (status: Result["status"], id: string | null = null): Result => ({
    email: sent,
    status,
    id,
  });
  try {
    const body = check(item);
    if (body.sendEmail === false) return result("invalid");
    const { invitation } = await inSavepoint(inside.database.query, () =>
      createInvitation(inside, caller, body),
    );
    return result("created", invitation.id);
  } catch (error) {
    if (error instanceof InvalidUser) return result(error.code === "email-taken" ? "exists" : "invalid");
    if (error instanceof UsernameTaken) return result("invalid");
    if (!(error instanceof ApiError)) throw error;
    // 403: an administrator, whose invitation came to nothing. 429: somebody who was invited again and again.
    if ([403, 409, 429].includes(error.status)) return result("exists");
    if (error.status === 422) return result("invalid");
    throw error;
  }
}
