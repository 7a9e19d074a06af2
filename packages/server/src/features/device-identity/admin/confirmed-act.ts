/** Destructive actions: a confirmation page for browsers, one call for programs. */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { Operation } from "../../../http/api/api-route.ts";
import { type Confirmation, confirm, showConfirmation } from "../../../page-kit/confirmation.ts";
import { type ManageDeps, managePage, managePath, pageAndApiRoute } from "./manage-visit.ts";

type Handlers = Parameters<typeof pageAndApiRoute>[3];

/** Registers the confirmation page; its form and programs post to the same address. */
export function confirmedRoutes<Pending>(
  app: FastifyInstance,
  deps: ManageDeps,
  { operation, program }: { readonly operation: Operation; readonly program: Handlers["program"] },
  confirmation: Confirmation<ManageDeps, Pending>,
): void {
  const page = managePage(deps, (_, visit) => showConfirmation(deps, visit, confirmation));
  app.get(operation.path, { errorHandler: deps.showError }, page);
  pageAndApiRoute(app, deps, operation, { program, page: (_, visit) => confirm(deps, visit, confirmation) });
}

/** @returns the id in a path; empty for anything but a UUID, so that nothing is found */
export const pathId = (text = ""): string => (isUuid(text) ? text.toLowerCase() : "");

export const devicesCrumb = (messages: Messages, organisation: Organisation) => [
  { label: messages.console.frame.pages.devices, uri: managePath(organisation) },
];
