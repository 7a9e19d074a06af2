/** GET audit-log/{id}: one event, whole. */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
import { findAuditEvent } from "../../../core/audit/audit.store.ts";
import { NotFound } from "../../../http/errors.ts";
import { consoleFrame } from "../../../page-kit/console-frame.ts";
import {
  administratorHere,
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  queryText,
  show,
  type Visit,
} from "../../../page-kit/visit.ts";
import { inWords } from "./audit-words.ts";
import { auditEventPage } from "./event.page.ts";

export function auditEventRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  consoleRoute(app, deps, "/audit-log/:event", { get: (visit) => showEvent(deps, visit) });
}

async function showEvent(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const { organisation, request } = visit;
  const { event: id = "" } = request.params as Record<string, string>;
  if (!isUuid(id)) throw new NotFound("event");
  const signedIn = await administratorHere(deps, visit, consolePath(organisation, `/audit-log/${id}`));
  if (!signedIn) return;
  const event = await findAuditEvent(deps.database.query, organisation.id, id.toLowerCase());
  if (!event) throw new NotFound("event");
  const frame = await consoleFrame(deps, visit, signedIn, "auditLog");
  const [words = { event, who: event.actor, what: event.action }] = await inWords(
    deps,
    organisation,
    [event],
    frame.messages,
  );
  const { actor, target, address } = event;
  const search = (filter: Readonly<Record<string, string>>) =>
    consolePath(organisation, `/audit-log${queryText(filter)}`);
  const page = auditEventPage({
    ...frame,
    ...words,
    listUri: search({}),
    uris: {
      sameWho: search({ search: actor }),
      sameTarget: target === undefined ? undefined : search({ on: target }),
      sameAddress: address === undefined ? undefined : search({ address }),
    },
  });
  await show(visit, frame, page);
}
