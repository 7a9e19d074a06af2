/**
 * What ends something is asked once more, on a page of its own, before it does; what cannot be undone asks for the name
 * typed. The page is for administrators who have just proven themselves, and so is what its button does.
 */
import type { FastifyInstance } from "fastify";
import type { Organisation } from "../core/organisations/organisation.ts";
import type { SignedIn } from "../core/sessions/session.ts";
import type { Database } from "../db/open.ts";
import { type ConfirmActView, confirmActPage } from "../html/components/act.page.ts";
import type { FormFailure } from "../html/components/record-form.ts";
import type { Messages } from "../html/messages/messages.ts";
import { NotFound } from "../http/errors.ts";
import { ALREADY, type ConsolePage, consoleFrame } from "./console-frame.ts";
import { type Making, making, newOnce, notTaken, type Refusal } from "./made-once.ts";
import { type Addressed, ownPath, paramsOf, uriFor } from "./own-path.ts";
import type { Submission } from "./sent-form.ts";
import { submission } from "./submission.ts";
import {
  actingOn,
  type ConsoleDeps,
  consoleRoute,
  goTo,
  provenAdministrator,
  show,
  type Visit,
} from "./visit.ts";

export interface ConfirmedAct<Found> extends Addressed {
  readonly current: ConsolePage;
  /** It could be done again and again, as a mail can: however often the button is pressed, it is done once. */
  readonly isRepeatable?: true;
  /** @param params what the path names */
  find(organisation: Organisation, params: Readonly<Record<string, string>>): Promise<Found | undefined>;
  /** Where the browser is told that it was so already, below the console; undefined when there is something to do. */
  overFor?(found: Found): string | undefined;
  question(
    messages: Messages,
    found: Found,
    organisation: Organisation,
  ): Pick<
    ConfirmActView,
    "heading" | "text" | "confirm" | "confirmId" | "isHarmless" | "fields" | "breadcrumbs"
  > & {
    /** To be typed, for what cannot be undone. */
    name?: string;
    /** Below the console: where "Cancel" leads. */
    back: string;
  };
  /**
   * @param form what the page's form holds
   * @returns where the browser goes, below the console, query included; or why nothing was done
   * @throws WasSoAlready
   */
  act(
    acting: ReturnType<typeof actingOn>,
    found: Found,
    form: ReadonlyMap<string, string>,
    context: {
      readonly organisation: Organisation;
      readonly signedIn: SignedIn;
      readonly messages: Messages;
      /** Of what is repeatable: the transaction that remembers that it is done. */
      readonly database: Database;
    },
  ): Promise<string | FormFailure>;
}

/** It has turned out that it was so already: the browser is told, and what the act has written is undone. */
export class WasSoAlready extends Error {
  readonly rest: string;
  /** @param rest where the browser goes, below the console */
  constructor(rest: string) {
    super("it was so already");
    this.name = "WasSoAlready";
    this.rest = rest;
  }
}

/** A place that says by itself how it stands is left as it is. */
const already = (place: string): string => (place.includes("?") ? place : `${place}?done=${ALREADY}`);

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
      if (!signedIn) return;
      const found = await stillOpen(visit, act);
      if (found) await ask(deps, visit, act, { signedIn, found });
    },
    post: (visit) => confirm(deps, visit, act),
  };
}

/** @returns undefined when the browser was sent to where it stands that it is done. @throws NotFound */
async function stillOpen<Found>(visit: Visit, act: ConfirmedAct<Found>): Promise<Found | undefined> {
  const found = await act.find(visit.organisation, paramsOf(visit));
  if (!found) throw new NotFound("record");
  const over = act.overFor?.(found);
  if (over === undefined) return found;
  // A button that was pressed twice, or somebody else's.
  await goTo(visit, uriFor(visit, act, already(over)));
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
    once: act.isRepeatable ? newOnce(deps) : undefined,
    action: ownPath(visit, act),
    backUri: uriFor(visit, act, back),
    failure: again.failure,
    typedName: again.typedName,
    isWrongName: again.isWrongName ?? false,
  });
  await show(visit, frame, page, again.status ?? 200);
}

/** What cannot be done twice is done in transactions of its own. */
async function receivedAct<Found>(
  deps: ConsoleDeps,
  visit: Visit,
  act: ConfirmedAct<Found>,
): Promise<Pick<Making, "signedIn" | "values" | "once"> | undefined> {
  const again = async ({ signedIn, values }: Submission, refusal: Refusal) => {
    const found = await stillOpen(visit, act);
    const typedName = values.get("name") ?? "";
    if (found) await ask(deps, visit, act, { signedIn, found }, { ...refusal, typedName });
  };
  const path = ownPath(visit, act);
  if (act.isRepeatable) return making(deps, visit, path, again, () => ({}));
  const sent = await submission(deps, visit, path, (refused, why) => again(refused, notTaken(why)));
  return sent && { ...sent, once: (work) => work(deps.database) };
}

async function confirm<Found>(deps: ConsoleDeps, visit: Visit, act: ConfirmedAct<Found>): Promise<void> {
  const sent = await receivedAct(deps, visit, act);
  if (!sent) return;
  const { signedIn } = sent;
  const found = await stillOpen(visit, act);
  if (!found) return;
  const { messages } = await consoleFrame(deps, visit, signedIn, act.current);
  const { name } = act.question(messages, found, visit.organisation);
  const typedName = sent.values.get("name") ?? "";
  if (name !== undefined && !isSameName(typedName, name))
    return ask(deps, visit, act, { signedIn, found }, { typedName, isWrongName: true, status: 400 });
  const context = { organisation: visit.organisation, signedIn, messages };
  const done = await sent
    .once((database) => act.act(actingOn(visit, signedIn), found, sent.values, { ...context, database }))
    .catch((error: unknown) => {
      if (error instanceof WasSoAlready) return already(error.rest);
      throw error;
    });
  if (typeof done === "string") await goTo(visit, uriFor(visit, act, done));
  else if (done) await ask(deps, visit, act, { signedIn, found }, { typedName, failure: done, status: 409 });
}

/** White space at the ends is easily copied along, and forms of one letter look alike. */
const isSameName = (typed: string, name: string): boolean =>
  typed.trim().normalize("NFC") === name.trim().normalize("NFC");
