/** What ends something, and is asked once more on a page of its own before it does; programs are not asked. */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { Operation } from "../../../http/api/api-route.ts";
import { type ConfirmedAct, confirmedActPages } from "../../../page-kit/confirmed-act.ts";
import { forBoth, MANAGE, type ManageDeps, managePath, pageHandler } from "./manage-visit.ts";

type Handlers = Parameters<typeof forBoth>[3];

/** Registers the page that asks, and the one address for its form and for programs. */
export function confirmedActRoutes<Found>(
  app: FastifyInstance,
  deps: ManageDeps,
  { operation, program }: { readonly operation: Operation; readonly program: Handlers["program"] },
  act: Omit<ConfirmedAct<Found>, "current" | "uriOf">,
): void {
  const pages = confirmedActPages(deps, { ...act, current: "devices", uriOf: managePath });
  app.get(`${MANAGE}${act.path}`, { errorHandler: deps.showError }, pageHandler(deps, pages.get));
  forBoth(app, deps, operation, { program, page: pages.post });
}

/** Of a path; empty when it is none, so that nothing is found. */
export const idIn = (text = ""): string => (isUuid(text) ? text.toLowerCase() : "");

/** The way back from the page that asks. */
export const devicesCrumb = (messages: Messages, organisation: Organisation) => [
  { label: messages.console.frame.pages.devices, uri: managePath(organisation) },
];
