/** Disabling, enabling and deleting an application, each confirmed first. */
import type { FastifyInstance } from "fastify";
import type { Application } from "../../../core/applications/application.ts";
import { deleteApplication } from "../../../core/applications/application-changes.ts";
import { setApplicationStatus } from "../../../core/applications/applications.ts";
import { html } from "../../../html/html.ts";
import {
  alreadyApplied,
  applied,
  type Confirmation,
  confirmationRoute,
  done,
} from "../../../page-kit/confirmation.ts";
import { type ConsoleDeps, consolePath } from "../../../page-kit/page.ts";
import { aboutRecord } from "../../../page-kit/record-pages.ts";
import { applicationPages } from "./application-pages.ts";
import { tabPath } from "./record-tabs.ts";

export function applicationRecordRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  confirmationRoute(app, deps, "/oauth/manage/:org/applications/:id/disable", statusChange(true));
  confirmationRoute(app, deps, "/oauth/manage/:org/applications/:id/enable", statusChange(false));
  confirmationRoute(app, deps, "/oauth/manage/:org/applications/:id/delete", deletion);
}

type ApplicationConfirmation = Confirmation<ConsoleDeps, Application>;

const onApplication = {
  ...aboutRecord(applicationPages, (application: Application) => application),
  load: applicationPages.find,
};

export const statusChange = (disabled: boolean): ApplicationConfirmation => ({
  ...onApplication,
  backUri: (organisation, { id }) => applicationPages.path(organisation, id, tabPath("advanced")),
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

export const deletion: ApplicationConfirmation = {
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
