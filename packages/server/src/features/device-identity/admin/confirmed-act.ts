/** Destructive actions: a confirmation page for browsers, one call for programs. */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { Operation } from "../../../http/api/api-route.ts";
import { type ConfirmedAct, confirmedActPages } from "../../../page-kit/confirmed-act.ts";
import { MANAGE, type ManageDeps, managePath, pageAndApiRoute, pageHandler } from "./manage-visit.ts";

type Handlers = Parameters<typeof pageAndApiRoute>[3];

/** Registers the confirmation page, and the address shared by its form and the API. */
export function confirmedActRoutes<Found>(
  app: FastifyInstance,
  deps: ManageDeps,
  { operation, program }: { readonly operation: Operation; readonly program: Handlers["program"] },
  act: Omit<ConfirmedAct<Found>, "current" | "uriOf">,
): void {
  const pages = confirmedActPages(deps, { ...act, current: "devices", uriOf: managePath });
  app.get(`${MANAGE}${act.path}`, { errorHandler: deps.showError }, pageHandler(deps, pages.get));
  pageAndApiRoute(app, deps, operation, { program, page: pages.post });
}

/** @returns the id in a path; empty for anything but a UUID, so that nothing is found */
export const pathId = (text = ""): string => (isUuid(text) ? text.toLowerCase() : "");

export const devicesCrumb = (messages: Messages, organisation: Organisation) => [
  { label: messages.console.frame.pages.devices, uri: managePath(organisation) },
];
