/** Registers what ends something: browsers are asked to confirm it first, programs are not. */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { Operation } from "../../../http/api/api-route.ts";
import { type Confirmation, confirm, showConfirmation } from "../../../page-kit/confirmation.ts";
import { forBoth, type ManageDeps, managePage, managePath } from "./manage-visit.ts";

type Handlers = Parameters<typeof forBoth>[3];

/** The page that asks; its form and programs post to the operation's address, which is the same. */
export function confirmedRoutes<Pending>(
  app: FastifyInstance,
  deps: ManageDeps,
  { operation, program }: { readonly operation: Operation; readonly program: Handlers["program"] },
  confirmation: Confirmation<ManageDeps, Pending>,
): void {
  const page = managePage(deps, (_, visit) => showConfirmation(deps, visit, confirmation));
  app.get(operation.path, { errorHandler: deps.showError }, page);
  forBoth(app, deps, operation, { program, page: (_, visit) => confirm(deps, visit, confirmation) });
}

/** Of a path; empty when it is none, so that nothing is found. */
export const idIn = (text = ""): string => (isUuid(text) ? text.toLowerCase() : "");

/** The way back from the page that asks. */
export const devicesCrumb = (messages: Messages, organisation: Organisation) => [
  { label: messages.console.frame.pages.devices, uri: managePath(organisation) },
];
