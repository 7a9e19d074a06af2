/** GET audit-log/{id}: one event with all its details. */
import type { FastifyInstance } from "fastify";
import { findAuditEvent } from "../../../core/audit/audit.store.ts";
import { NotFound } from "../../../http/errors.ts";
import { consoleFrame } from "../../../page-kit/console-frame.ts";
import {
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  queryString,
  requireAdministrator,
  requireId,
  show,
  type Visit,
} from "../../../page-kit/page.ts";
import { displayEvents } from "./display-events.ts";
import { auditEventPage } from "./event.page.ts";

export function auditEventRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/audit-log/:event", { get: showEvent });
}

async function showEvent(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const { organisation } = visit;
  const id = requireId(visit, "event");
  const signedIn = await requireAdministrator(deps, visit);
  const event = await findAuditEvent(deps.database.query, organisation.id, id);
  if (!event) throw new NotFound("event");
  const frame = await consoleFrame(deps, visit, signedIn, "auditLog");
  const [words = { event, who: event.actor, what: event.action }] = await displayEvents(
    deps,
    organisation,
    [event],
    frame.messages,
  );
  const { actor, target, address } = event;
  const search = (filter: Readonly<Record<string, string>>) =>
    consolePath(organisation, `/audit-log${queryString(filter)}`);
  const page = auditEventPage({
    ...frame,
    ...words,
    uris: {
      sameWho: search({ search: actor }),
      sameTarget: target === undefined ? undefined : search({ on: target }),
      sameAddress: address === undefined ? undefined : search({ address }),
    },
  });
  await show(visit, frame, page);
}
