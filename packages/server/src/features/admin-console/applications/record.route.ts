/** GET applications/{id}: how one application stands. */
import type { FastifyInstance } from "fastify";
import { listAssignedUsers } from "../../../core/application-access/application-access.store.ts";
import type { Application } from "../../../core/applications/application.ts";
import { kindOf } from "../../../core/applications/kinds.ts";
import { recentSignIns } from "../../../core/applications/use/use.store.ts";
import { issuerOf } from "../../../core/organisations/organisation.ts";
import { issuerOfPool } from "../../../core/signing-pools/signing-pool.ts";
import { findPool } from "../../../core/signing-pools/signing-pools.store.ts";
import { doneNotice } from "../../../html/components/record-form.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { copyScript } from "../../../html/scripts.ts";
import { queryOf } from "../../../http/form-body.ts";
import { lastChangeOf } from "../../../page-kit/actor-names.ts";
import { consoleFrame } from "../../../page-kit/console-frame.ts";
import {
  administratorHere,
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  show,
} from "../../../page-kit/visit.ts";
import { applicationHere, applicationPath, idIn, listCrumb } from "./application-visit.ts";
import { recordPage } from "./record.page.ts";

const SIGN_INS_SHOWN = 10;
/** Counted up to here; what is more is "more". */
const MOST_COUNTED = 100;

export function applicationRecordRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  consoleRoute(app, deps, "/applications/:id", {
    get: async (visit) => {
      const { organisation } = visit;
      const signedIn = await administratorHere(deps, visit, applicationPath(organisation, idIn(visit)));
      if (!signedIn) return;
      const application = await applicationHere(deps, visit);
      const frame = await consoleFrame(deps, visit, signedIn, "applications");
      const { messages } = frame;
      const page = recordPage({
        ...frame,
        ...(await aroundIt(deps, application)),
        breadcrumbs: [listCrumb(organisation, messages)],
        notice: doneOf(queryOf(visit.request).values.get("done"), messages),
        application,
        now: deps.clock(),
        uri: (rest) => applicationPath(organisation, application.id, rest),
        userUri: (id) => consolePath(organisation, `/users/${id}`),
        quickstartUri: consolePath(organisation, `/quickstart/${application.id}`),
        lastChange: await lastChangeOf(deps, organisation.id, application.id, messages),
        script: copyScript.path,
      });
      await show(visit, frame, page);
    },
  });
}

function doneOf(code: string | undefined, { console: { applications } }: Messages) {
  const texts: Readonly<Record<string, string>> = applications.done;
  return code !== undefined && Object.hasOwn(texts, code) ? doneNotice(texts[code] ?? "") : undefined;
}

async function aroundIt({ database, baseUrl }: ConsoleDeps, application: Application) {
  const { orgId, id: applicationId, settings } = application;
  const of = { orgId, applicationId };
  const { signingPoolId } = settings;
  const pool = signingPoolId === undefined ? undefined : await findPool(database.query, orgId, signingPoolId);
  const by = kindOf(application) === "legacy" ? "legacy" : "oauth";
  const page = { limit: MOST_COUNTED, after: undefined };
  const assigned = await listAssignedUsers(database.query, of, page);
  return {
    pool: pool?.name,
    issuer: pool ? issuerOfPool(baseUrl, pool) : issuerOf(baseUrl, orgId),
    recent: await recentSignIns(database.query, by, of, SIGN_INS_SHOWN),
    assigned: {
      count: Math.min(assigned.length, MOST_COUNTED),
      isMore: assigned.length > MOST_COUNTED,
    },
  };
}
