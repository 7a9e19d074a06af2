/**
 * What ends something is asked once more, on a page of its own, before it does; what cannot be undone asks for the name
 * typed. The page is for administrators who have just proven themselves, and so is what its button does.
 */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
import type { Organisation } from "../core/organisations/organisation.ts";
import type { SignedIn } from "../core/sessions/session.ts";
import { type ConfirmActView, confirmActPage } from "../html/console/act.page.ts";
import type { FormFailure } from "../html/console/record-form.ts";
import type { Messages } from "../html/messages/messages.ts";
import { NotFound } from "../http/errors.ts";
import { type ConsolePage, consoleFrame } from "./console-frame.ts";
import { submission } from "./submission.ts";
import {
  actingOn,
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  goTo,
  provenAdministrator,
  show,
  type Visit,
} from "./visit.ts";

export interface ConfirmedAct<Found> {
  /** Below the organisation's console, for the router: `/applications/:id/delete`. Other parameters are in `params`. */
  readonly path: string;
  readonly current: ConsolePage;
  /** The address of a path, for acts that have another place than the console's addresses. */
  uriOf?(organisation: Organisation, rest: string): string;
  find(organisation: Organisation, params: Readonly<Record<string, string>>): Promise<Found | undefined>;
  /** Where the browser is sent, below the console, when there is nothing to do any more; undefined when there is. */
  overFor?(found: Found): string | undefined;
  question(
    messages: Messages,
    found: Found,
    organisation: Organisation,
  ): Pick<ConfirmActView, "heading" | "text" | "confirm" | "confirmId" | "fields" | "breadcrumbs"> & {
    /** To be typed, for what cannot be undone. */
    name?: string;
    /** Below the console: where "Cancel" leads. */
    back: string;
  };
  /**
   * @param form what the page's form holds
   * @returns where the browser goes, below the console, query included; or why nothing was done
   */
  act(
    acting: ReturnType<typeof actingOn>,
    found: Found,
    form: ReadonlyMap<string, string>,
    context: {
      readonly organisation: Organisation;
      readonly signedIn: SignedIn;
      readonly messages: Messages;
    },
  ): Promise<string | FormFailure>;
}

/** Registers the page that asks, and what its form does. */
export function confirmedActRoute<Found>(
  app: FastifyInstance,
  deps: ConsoleDeps,
  act: ConfirmedAct<Found>,
): void {
  consoleRoute(app, deps, act.path, confirmedActPages(deps, act));
}

/** The page that asks, and what its form does, for whoever registers them elsewhere. */
export function confirmedActPages<Found>(
  deps: ConsoleDeps,
  act: ConfirmedAct<Found>,
): { get(visit: Visit): Promise<void>; post(visit: Visit): Promise<void> } {
  return {
    get: async (visit) => {
      const signedIn = await provenAdministrator(deps, visit, ownPath(visit, act));
      const found = signedIn && (await toDo(visit, act));
      if (signedIn && found) await ask(deps, visit, act, { signedIn, found });
    },
    post: (visit) => confirm(deps, visit, act),
  };
}

const uriFor = <Found>({ organisation }: Visit, act: ConfirmedAct<Found>, rest: string): string =>
  act.uriOf?.(organisation, rest) ?? consolePath(organisation, rest);

/** Ids of paths in their one form; what is none finds nothing. */
function paramsOf({ request }: Visit): Readonly<Record<string, string>> {
  const { org: _, ...params } = request.params as Record<string, string>;
  const read = ([name, value]: [string, string]) => [name, isUuid(value) ? value.toLowerCase() : value];
  return Object.fromEntries(Object.entries(params).map(read));
}

const ownPath = <Found>(visit: Visit, act: ConfirmedAct<Found>): string =>
  uriFor(
    visit,
    act,
    act.path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(paramsOf(visit)[name] ?? "")),
  );

/** @returns undefined when the browser was sent to where it stands that it is done. @throws NotFound */
async function toDo<Found>(visit: Visit, act: ConfirmedAct<Found>): Promise<Found | undefined> {
  const found = await act.find(visit.organisation, paramsOf(visit));
  if (!found) throw new NotFound("record");
  const over = act.overFor?.(found);
  if (over === undefined) return found;
  // A button that was pressed twice, or somebody else's: the page says how it stands.
  await goTo(visit, uriFor(visit, act, over));
  return undefined;
}

async function ask<Found>(
  deps: ConsoleDeps,
  visit: Visit,
  act: ConfirmedAct<Found>,
  { signedIn, found }: { signedIn: SignedIn; found: Found },
  again: { failure?: FormFailure; typedName?: string; isWrongName?: boolean; status?: number } = {},
): Promise<void> {
  const frame = await consoleFrame(deps, visit, signedIn, act.current);
  const { back, ...question } = act.question(frame.messages, found, visit.organisation);
  const page = confirmActPage({
    ...frame,
    ...question,
    csrf: deps.door.formBinding(visit).csrf,
    action: ownPath(visit, act),
    backUri: uriFor(visit, act, back),
    failure: again.failure,
    typedName: again.typedName,
    isWrongName: again.isWrongName ?? false,
  });
  await show(visit, frame, page, again.status ?? 200);
}

async function confirm<Found>(deps: ConsoleDeps, visit: Visit, act: ConfirmedAct<Found>): Promise<void> {
  const sent = await submission(deps, visit, ownPath(visit, act), async ({ signedIn }) => {
    const found = await toDo(visit, act);
    const again = { failure: { kind: "expired" }, status: 403 } as const;
    if (found) await ask(deps, visit, act, { signedIn, found }, again);
  });
  if (!sent) return;
  const { signedIn } = sent;
  const found = await toDo(visit, act);
  if (!found) return;
  const { messages } = await consoleFrame(deps, visit, signedIn, act.current);
  const { name } = act.question(messages, found, visit.organisation);
  const typedName = sent.values.get("name") ?? "";
  if (name !== undefined && !isSameName(typedName, name))
    return ask(deps, visit, act, { signedIn, found }, { typedName, isWrongName: true, status: 400 });
  const context = { organisation: visit.organisation, signedIn, messages };
  const done = await act.act(actingOn(visit, signedIn), found, sent.values, context);
  if (typeof done === "string") await goTo(visit, uriFor(visit, act, done));
  else await ask(deps, visit, act, { signedIn, found }, { typedName, failure: done, status: 409 });
}

/** White space at the ends is easily copied along, and forms of one letter look alike. */
const isSameName = (typed: string, name: string): boolean =>
  typed.trim().normalize("NFC") === name.trim().normalize("NFC");
