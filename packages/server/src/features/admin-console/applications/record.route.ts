/** applications/{id}: one application; disabling, enabling and deleting it, each confirmed first. */
import type { FastifyInstance } from "fastify";
import { listAssignedUsers } from "../../../core/application-access/application-access.store.ts";
import type { Application } from "../../../core/applications/application.ts";
import { deleteApplication } from "../../../core/applications/application-changes.ts";
import { recentSignIns } from "../../../core/applications/application-use.store.ts";
import { setApplicationStatus } from "../../../core/applications/applications.ts";
import { kindOf } from "../../../core/applications/kinds.ts";
import { listRefusedRequests } from "../../../core/refused-requests/refused-requests.store.ts";
import { type Html, html } from "../../../html/html.ts";
import {
  alreadyApplied,
  applied,
  type Confirmation,
  confirmationRoute,
  done,
} from "../../../page-kit/confirmation.ts";
import { type ConsoleDeps, consolePath, type Visit } from "../../../page-kit/page.ts";
import { aboutRecord, type RecordView, recordRoute } from "../../../page-kit/record-pages.ts";
import { activityCard } from "../audit-log/activity.page.ts";
import { applicationPages, findIssuer } from "./application-pages.ts";
import { recordPage } from "./record.page.ts";

export function applicationRecordRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  recordRoute(app, deps, "/oauth/manage/:org/applications/:id", applicationPages, showRecord);
  confirmationRoute(app, deps, "/oauth/manage/:org/applications/:id/disable", statusChange(true));
  confirmationRoute(app, deps, "/oauth/manage/:org/applications/:id/enable", statusChange(false));
  confirmationRoute(app, deps, "/oauth/manage/:org/applications/:id/delete", deletion);
}

const SIGN_INS_SHOWN = 10;
/** Assigned users are counted up to here. */
const MAX_COUNTED = 100;

async function showRecord(
  deps: ConsoleDeps,
  { organisation }: Visit,
  view: RecordView<Application>,
): Promise<Html> {
  const { record: application } = view;
  const key = { orgId: application.orgId, applicationId: application.id };
  const db = deps.database.query;
  const by = kindOf(application) === "legacy" ? "legacy" : "oauth";
  const assigned = await listAssignedUsers(db, key, { limit: MAX_COUNTED, after: undefined });
  // What this node has not written yet is the newest.
  await deps.refusedRequests.flush();
  return recordPage({
    ...view,
    refused: await listRefusedRequests(db, key),
    ...(await findIssuer(deps, application)),
    recent: await recentSignIns(db, by, key, SIGN_INS_SHOWN),
    assigned: { count: Math.min(assigned.length, MAX_COUNTED), isMore: assigned.length > MAX_COUNTED },
    activity: await activityCard(deps, organisation, { kind: "client", id: application.id }, view.messages),
    now: deps.clock(),
  });
}

type ApplicationConfirmation = Confirmation<ConsoleDeps, Application>;

const onApplication = {
  ...aboutRecord(applicationPages, (application: Application) => application),
  load: applicationPages.find,
};

const statusChange = (disabled: boolean): ApplicationConfirmation => ({
  ...onApplication,
  isDone: (_, { disabledAt }) => (disabledAt !== null) === disabled,
  question: ({ console: { applications } }, { name: application }) => {
    const { end } = applications;
    return {
      heading: disabled ? end.disableHeading({ application }) : end.enableHeading({ application }),
      text: disabled ? end.disableText({ application }) : end.enableText({ application }),
      confirm: disabled ? end.disable : end.enable,
      confirmId: disabled ? "application-disable" : "application-enable",
      isHarmless: !disabled,
    };
  },
  apply: async (deps, acting, { id }) =>
    (await setApplicationStatus(deps, { ...acting, id, disabled }))
      ? done(disabled ? "disabled" : "enabled")
      : alreadyApplied,
});

const deletion: ApplicationConfirmation = {
  ...onApplication,
  question: ({ console: { applications } }, { name }) => {
    const { end } = applications;
    return {
      heading: end.deleteHeading({ application: name }),
      text: [html`<p>${end.deleteText({ application: name })}</p>`, html`<p>${end.deleteInstead}</p>`],
      name,
      confirm: end.deleteConfirm,
      confirmId: "application-delete",
    };
  },
  apply: async (deps, acting, { id }, { organisation }) => {
    await deleteApplication(deps, { ...acting, id });
    return applied(consolePath(organisation, "/applications?done=deleted"));
  },
};
