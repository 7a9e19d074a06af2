/** What ends something, and is asked once more on a page of its own before it does. */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
import type { Organisation } from "../../core/organisations/organisation.ts";
import type { SignedIn } from "../../core/sessions/session.ts";
import { type ConfirmView, confirmPage } from "../../html/confirm.page.ts";
import type { Messages } from "../../html/messages/messages.ts";
import type { Operation } from "../../http/api/api-route.ts";
import { NotFound } from "../../http/errors.ts";
import { formOf } from "../../http/form-body.ts";
import {
  actingOn,
  forBoth,
  frameOf,
  goTo,
  MANAGE,
  type ManageDeps,
  managePath,
  pageHandler,
  provenAdministrator,
  show,
  type Visit,
} from "./manage-visit.ts";

export interface ConfirmedAct<Found> {
  /** Below the organisation's devices. @param id `:id` for the route */
  path(id: string): string;
  find(organisation: Organisation, id: string): Promise<Found | undefined>;
  /** The query of the list where the browser is sent when there is nothing to do any more; undefined when there is. */
  overFor(found: Found): string | undefined;
  question(
    messages: Messages,
    found: Found,
  ): Pick<ConfirmView, "heading" | "text" | "confirm" | "confirmId" | "question">;
  /** @param form what the page's form holds. @returns the query of the list that says what was done */
  act(
    acting: ReturnType<typeof actingOn>,
    found: Found,
    form: ReadonlyMap<string, string>,
  ): Promise<`?${string}`>;
}

type Handlers = Parameters<typeof forBoth>[3];

/** Registers the page that asks, and the one address for its form and for programs. */
export function confirmedActRoutes<Found>(
  app: FastifyInstance,
  deps: ManageDeps,
  { operation, program }: { readonly operation: Operation; readonly program: Handlers["program"] },
  act: ConfirmedAct<Found>,
): void {
  app.get(
    `${MANAGE}${act.path(":id")}`,
    { errorHandler: deps.errorHandlers.page },
    pageHandler(deps, async (visit) => {
      const asked = await toConfirm(deps, visit, act);
      if (asked) await ask(deps, visit, act, asked);
    }),
  );
  forBoth(app, deps, operation, { program, page: (visit) => confirm(deps, visit, act) });
}

/** Of a path; empty when it is none, so that nothing is found. */
export const idIn = (text = ""): string => (isUuid(text) ? text.toLowerCase() : "");

interface Asked<Found> {
  readonly id: string;
  readonly signedIn: SignedIn;
  readonly found: Found;
}

/** @returns undefined when the answer has been sent. @throws NotFound */
async function toConfirm<Found>(
  deps: ManageDeps,
  visit: Visit,
  act: ConfirmedAct<Found>,
): Promise<Asked<Found> | undefined> {
  const { organisation, request } = visit;
  const id = idIn((request.params as { id?: string }).id);
  const signedIn = await provenAdministrator(deps, visit, managePath(organisation, act.path(id)));
  if (!signedIn) return undefined;
  const found = await act.find(organisation, id);
  if (!found) throw new NotFound("record");
  const over = act.overFor(found);
  if (over === undefined) return { id, signedIn, found };
  // A button that was pressed twice, or somebody else's: the list says how it stands.
  await goTo(visit, managePath(organisation, over));
  return undefined;
}

async function ask<Found>(
  deps: ManageDeps,
  visit: Visit,
  act: ConfirmedAct<Found>,
  { id, signedIn, found }: Asked<Found>,
  isExpired = false,
): Promise<void> {
  const { organisation } = visit;
  const frame = frameOf(visit);
  const { devices } = frame.messages;
  const page = confirmPage({
    ...frame,
    ...act.question(frame.messages, found),
    user: { email: signedIn.user.email },
    csrf: deps.door.formBinding(visit).csrf,
    action: managePath(organisation, act.path(id)),
    cancel: devices.cancel,
    backUri: managePath(organisation),
    ...(isExpired ? { failure: { title: devices.expired, text: devices.expiredText } } : {}),
  });
  return show(visit, frame, page, isExpired ? 403 : 200);
}

async function confirm<Found>(deps: ManageDeps, visit: Visit, act: ConfirmedAct<Found>): Promise<void> {
  const asked = await toConfirm(deps, visit, act);
  if (!asked) return;
  const { values } = formOf(visit.request);
  if (!deps.door.isOwnForm(visit, values.get("csrf"))) return ask(deps, visit, act, asked, true);
  const done = await act.act(actingOn(visit, asked.signedIn), asked.found, values);
  await goTo(visit, managePath(visit.organisation, done));
}
