/** Disabling, enabling and deleting an application. */
import type { FastifyInstance } from "fastify";
import type { Application } from "../../../core/applications/application.ts";
import { deleteApplication } from "../../../core/applications/application-changes.ts";
import { findApplication } from "../../../core/applications/applications.store.ts";
import { disableApplication } from "../../../core/applications/applications.ts";
import { html } from "../../../html/html.ts";
import { type ConfirmedAct, confirmedActRoute, WasSoAlready } from "../../../page-kit/confirmed-act.ts";
import type { ConsoleDeps } from "../../../page-kit/visit.ts";
import { applicationRest, recordCrumbs } from "./application-visit.ts";

export function endRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  confirmedActRoute(app, deps, switching(deps, true));
  confirmedActRoute(app, deps, switching(deps, false));
  confirmedActRoute(app, deps, deletion(deps));
}

const found = (deps: ConsoleDeps) => ({
  current: "applications" as const,
  find: ({ id: orgId }: { id: string }, { id = "" }: Readonly<Record<string, string>>) =>
    findApplication(deps.database.query, orgId, id),
});

function switching(deps: ConsoleDeps, disabled: boolean): ConfirmedAct<Application> {
  const done = disabled ? "?done=disabled" : "?done=enabled";
  return {
    ...found(deps),
    path: disabled ? "/applications/:id/disable" : "/applications/:id/enable",
    overFor: ({ id, disabledAt }) => ((disabledAt !== null) === disabled ? applicationRest(id) : undefined),
    question: (messages, application, organisation) => {
      const { end } = messages.console.applications;
      const { name, id } = application;
      return {
        heading: disabled
          ? end.disableHeading({ application: name })
          : end.enableHeading({ application: name }),
        text: html`<p>${disabled ? end.disableText({ application: name }) : end.enableText({ application: name })}</p>`,
        confirm: disabled ? end.disable : end.enable,
        confirmId: disabled ? "application-disable" : "application-enable",
        isHarmless: !disabled,
        breadcrumbs: recordCrumbs(organisation, application, messages),
        back: applicationRest(id),
      };
    },
    act: async (acting, { id }) => {
      if (!(await disableApplication(deps, { ...acting, id, disabled })))
        throw new WasSoAlready(applicationRest(id));
      return applicationRest(id, done);
    },
  };
}

function deletion(deps: ConsoleDeps): ConfirmedAct<Application> {
  return {
    ...found(deps),
    path: "/applications/:id/delete",
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
        back: applicationRest(application.id),
      };
    },
    act: async (acting, { id }) => {
      await deleteApplication(deps, { ...acting, id });
      return "/applications?done=deleted";
    },
  };
}
