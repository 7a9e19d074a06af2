/** GET applications/{id}: one application. */
import type { FastifyInstance } from "fastify";
import { listAssignedUsers } from "../../../core/application-access/application-access.store.ts";
import type { Application } from "../../../core/applications/application.ts";
import { kindOf } from "../../../core/applications/kinds.ts";
import { recentSignIns } from "../../../core/applications/use/use.store.ts";
import { issuerOf } from "../../../core/organisations/organisation.ts";
import { findPool } from "../../../core/signing-pools/signing-pool.store.ts";
import { signingPoolIssuer } from "../../../core/signing-pools/signing-pool.ts";
import { findLastChange } from "../../../page-kit/actor-names.ts";
import { consoleFrame, doneKey } from "../../../page-kit/console-frame.ts";
import {
  type ConsoleDeps,
  consoleRoute,
  requireAdministrator,
  requireId,
  show,
  type Visit,
} from "../../../page-kit/page.ts";
import { applicationPath, listCrumb, requireApplication } from "./application-path.ts";
import { recordPage } from "./record.page.ts";

const SIGN_INS_SHOWN = 10;
/** Assigned users are counted up to here. */
const MAX_COUNTED = 100;

export function applicationRecordRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/applications/:id", { get: showRecord });
}

async function showRecord(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const { organisation } = visit;
  requireId(visit);
  const signedIn = await requireAdministrator(deps, visit);
  const application = await requireApplication(deps, visit);
  const frame = await consoleFrame(deps, visit, signedIn, "applications");
  const { messages } = frame;
  const page = recordPage({
    ...frame,
    ...(await findRelated(deps, application)),
    breadcrumbs: [listCrumb(organisation, messages)],
    done: doneKey(visit, messages.console.applications.done),
    application,
    now: deps.clock(),
    uri: (rest) => applicationPath(organisation, application.id, rest),
    lastChange: await findLastChange(deps, organisation.id, application.id, messages),
  });
  await show(visit, frame, page);
}

async function findRelated({ database, baseUrl }: ConsoleDeps, application: Application) {
  const { orgId, id: applicationId, settings } = application;
  const key = { orgId, applicationId };
  const { signingPoolId } = settings;
  const pool = signingPoolId === undefined ? undefined : await findPool(database.query, orgId, signingPoolId);
  const by = kindOf(application) === "legacy" ? "legacy" : "oauth";
  const assigned = await listAssignedUsers(database.query, key, { limit: MAX_COUNTED, after: undefined });
  return {
    pool: pool?.name,
    issuer: pool ? signingPoolIssuer(baseUrl, pool) : issuerOf(baseUrl, orgId),
    recent: await recentSignIns(database.query, by, key, SIGN_INS_SHOWN),
    assigned: {
      count: Math.min(assigned.length, MAX_COUNTED),
      isMore: assigned.length > MAX_COUNTED,
    },
  };
}
