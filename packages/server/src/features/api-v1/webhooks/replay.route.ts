/** POST /api/v1/organisations/{org}/webhooks/{id}/replay: the events of a time, sent again. */

import { replayEvents } from "../../../core/webhooks/replay.ts";
import { isEventPattern, MAX_REPLAYED } from "../../../core/webhooks/webhook.ts";
import { invalid, notFound } from "../../../http/api/api-error.ts";
import { type ApiScope, apiRoute } from "../../../http/api/api-route.ts";
import { idOf } from "../../../http/api/path-id.ts";
import { noParameters } from "../../../http/api/schemas.ts";
import { readWireTime } from "../../../http/api/times.ts";
import { actOf, apiAuthenticator } from "../access.ts";
import { type ApiDeps, inTransaction } from "../frame/api-deps.ts";
import { scopeText } from "../frame/operation-texts.ts";
import { replay, replayed } from "./webhook-record.ts";

const writes = ["signet:organisation:write", "signet:audit:read"] as const;

export function apiWebhookReplayRoute(
  api: ApiScope,
  deps: ApiDeps,
  toAnswer: (error: unknown) => never,
): void {
  apiRoute(api, {
    ...{ tag: "API v1: webhooks", credential: "access-token", operationId: "apiReplayWebhook" },
    ...{ method: "POST", path: "/api/v1/organisations/:org/webhooks/:id/replay", query: noParameters },
    ...{ body: replay, errors: [409], lenient: { readOnly: [] } },
    summary: "Send the events of a time again",
    description: scopeText(
      writes,
      `As far as the audit log has them, ${MAX_REPLAYED} at most, at the end of the queue. Those that wait there already stay where they are.`,
    ),
    example: { from: "2026-01-01T00:00:00Z", events: ["user.*"] },
    answers: { 202: { description: "They are queued", schema: replayed } },
    authenticator: apiAuthenticator(deps, ...writes),
    handler: async ({ params, caller, body: { from, to, events }, within }) => {
      const unknown = events?.findIndex((pattern) => !isEventPattern(pattern)) ?? -1;
      if (unknown >= 0)
        throw invalid([{ path: `/events/${unknown}`, message: "must be an audit action, user.* or *" }]);
      const time = { from: timeOf(from, "/from"), to: to ? timeOf(to, "/to") : deps.clock() + 1 };
      if (time.to <= time.from) throw invalid([{ path: "/to", message: "must be after from" }]);
      const wanted = { ...time, events: events ?? undefined, id: idOf(params) };
      const count = await inTransaction(deps, within, (inside) =>
        replayEvents(inside, { ...actOf(caller), ...wanted }),
      ).catch(toAnswer);
      if (count === undefined) throw notFound();
      return { status: 202, body: { count } };
    },
  });
}

function timeOf(text: string, path: string): number {
  const at = readWireTime(text);
  if (at === undefined) throw invalid([{ path, message: "is no date and time" }]);
  return at;
}
