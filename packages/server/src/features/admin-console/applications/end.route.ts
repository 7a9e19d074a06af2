/** Disabling, enabling and deleting an application, each confirmed first. */
import type { FastifyInstance } from "fastify";
import type { Application } from "../../../core/applications/application.ts";
import { deleteApplication } from "../../../core/applications/application-changes.ts";
import { findApplication } from "../../../core/applications/applications.store.ts";
import { setApplicationStatus } from "../../../core/applications/applications.ts";
import { html } from "../../../html/html.ts";
import {
  alreadyApplied,
  applied,
  type Confirmation,
  confirmationRoute,
} from "../../../page-kit/confirmation.ts";
import { type ConsoleDeps, consolePath } from "../../../page-kit/page.ts";
import { applicationPath, recordCrumbs } from "./application-path.ts";

export function endRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  confirmationRoute(app, deps, "/oauth/manage/:org/applications/:id/disable", statusChange(true));
  confirmationRoute(app, deps, "/oauth/manage/:org/applications/:id/enable", statusChange(false));
  confirmationRoute(app, deps, "/oauth/manage/:org/applications/:id/delete", deletion);
}

const onApplication: Pick<Confirmation<ConsoleDeps, Application>, "current" | "load" | "backUri"> = {
  current: "applications",
  load: ({ database }, { id: orgId }, { id = "" }) => findApplication(database.query, orgId, id),
  backUri: (organisation, { id }) => applicationPath(organisation, id),
};

const statusChange = (disabled: boolean): Confirmation<ConsoleDeps, Application> => ({
  ...onApplication,
  isDone: (_, { disabledAt }) => (disabledAt !== null) === disabled,
  question: (messages, application, organisation) => {
    const { end } = messages.console.applications;
    const { name } = application;
    return {
      heading: disabled
        ? end.disableHeading({ application: name })
        : end.enableHeading({ application: name }),
      text: html`<p>${disabled ? end.disableText({ application: name }) : end.enableText({ application: name })}</p>`,
      confirm: disabled ? end.disable : end.enable,
      confirmId: disabled ? "application-disable" : "application-enable",
      isHarmless: !disabled,
      breadcrumbs: recordCrumbs(organisation, application, messages),
    };
  },
  apply: async (deps, acting, { id }, { organisation }) =>
    (await setApplicationStatus(deps, { ...acting, id, disabled }))
      ? applied(applicationPath(organisation, id, disabled ? "?done=disabled" : "?done=enabled"))
      : alreadyApplied,
});

const deletion: Confirmation<ConsoleDeps, Application> = {
  ...onApplication,
  question: (messages, application, organisation) => {
    const { end } = messages.console.applications;
    return {
      heading: end.deleteHeading({ application: application.name }),
      text: [
        html`<p>${end.deleteText({ application: application.name })}</p>`,
        html`<p>${end.deleteInstead}</p>`,
      ],
      name: application.name,
      confirm: end.deleteConfirm,
      confirmId: "application-delete",
      breadcrumbs: recordCrumbs(organisation, application, messages),
    };
  },
  apply: async (deps, acting, { id }, { organisation }) => {
    await deleteApplication(deps, { ...acting, id });
    return applied(consolePath(organisation, "/applications?done=deleted"));
  },
};
