/**
 * A form on a record that is there, the same flow for all of them. The page carries what the record was like (`seen`);
 * nothing is kept unless the record, held and read again in the transaction that keeps the change, is still like that.
 * Whatever goes wrong, the page comes back with what was typed.
 */
import type { FastifyInstance } from "fastify";
import type { SignedIn } from "../core/sessions/session.ts";
import type { Db } from "../db/open.ts";
import { goneRecordPage } from "../html/components/act.page.ts";
import { differing, type FormState, type FormView } from "../html/components/form-state.ts";
import type { FormFailure } from "../html/components/record-form.ts";
import type { Html } from "../html/html.ts";
import type { Messages } from "../html/messages/messages.ts";
import { NotFound } from "../http/errors.ts";
import { lastChangeOf } from "./actor-names.ts";
import { type ConsolePage, consoleFrame } from "./console-frame.ts";
import { inTransaction, making, newOnce, notTaken, type Refusal } from "./made-once.ts";
import { type Addressed, ownPath } from "./own-path.ts";
import { readerMessages } from "./reader-language.ts";
import type { Submission } from "./sent-form.ts";
import { ChangedMeanwhile, requireSeen, seenOf, submission } from "./submission.ts";
import {
  actingOn,
  administratorHere,
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  goTo,
  provenAdministrator,
  show,
  type Visit,
} from "./visit.ts";

/** One look at the form, or one sending of it. */
export interface Editing<Found> {
  readonly visit: Visit;
  readonly signedIn: SignedIn;
  readonly found: Found;
  readonly messages: Messages;
}

export interface EditForm<Deps, Found, Typed, Content> extends Addressed {
  readonly current: ConsolePage;
  /** The page is there to be looked at too: by any administrator, however long ago they signed in. */
  readonly isForLooking?: boolean;
  /** It sends something and leaves the record as it is: however often it is pressed, it is done once. */
  readonly isRepeatable?: true;
  /** As it is this moment. @throws NotFound */
  find(deps: Pick<ConsoleDeps, "database">, visit: Visit): Promise<Found>;
  /** Keeps whoever would change the record waiting until the transaction ends. */
  hold(tx: Db, found: NoInfer<Found>): Promise<unknown>;
  /** What the form is about: the members that it can change, or the record's version. */
  seenIn(found: NoInfer<Found>): unknown;
  typedOf(found: NoInfer<Found>): Typed;
  read(sent: Submission, at: Editing<Found>): Typed;
  /** For each field its value as people read it, to say what it is now where somebody else was faster. */
  inWords(typed: Typed, at: Editing<Found>): Readonly<Record<string, string>>;
  page(view: FormView<Typed>, at: Editing<Found>): Html | Promise<Html>;
  /** A button of the form that shows it once more with what was typed, and keeps nothing. */
  readonly again?: string;
  contentOf(typed: Typed, at: Editing<Found>): Outcome<Content> | Promise<Outcome<Content>>;
  /**
   * @param inside in the transaction that holds the record
   * @param at with the record as it is now
   * @returns the address that the browser goes to
   */
  keep(
    inside: Deps,
    content: Content,
    at: Editing<Found> & { readonly acting: ReturnType<typeof actingOn> },
  ): Promise<string>;
  /** What `keep` threw, when it is about what was typed: faults (400), or why it is refused (409). */
  refused?(error: unknown, at: Editing<Found>): FormState | FormFailure | undefined;
}

type Outcome<Content> = { readonly content: Content } | { readonly faults: Readonly<Record<string, string>> };

/** Registers the form, and what it does. */
export function editForm<Deps extends ConsoleDeps, Found extends { id: string }, Typed, Content>(
  app: FastifyInstance,
  deps: Deps,
  form: EditForm<Deps, Found, Typed, Content>,
): void {
  consoleRoute(app, deps, form.path, editFormPages(deps, form));
}

/** The form, and what it does, for whoever registers them elsewhere. */
export function editFormPages<Deps extends ConsoleDeps, Found extends { id: string }, Typed, Content>(
  deps: Deps,
  form: EditForm<Deps, Found, Typed, Content>,
): { get(visit: Visit): Promise<void>; post(visit: Visit): Promise<void> } {
  const mayCome = form.isForLooking ? administratorHere : provenAdministrator;
  return {
    get: async (visit) => {
      const signedIn = await mayCome(deps, visit, ownPath(visit, form));
      if (!signedIn) return;
      const at = await editing(deps, visit, form, signedIn);
      await showForm(deps, form, at, { typed: form.typedOf(at.found) });
    },
    post: async (visit) => {
      try {
        await change(deps, form, visit);
      } catch (error) {
        if (!(error instanceof NotFound)) throw error;
        await showGone(deps, form, visit);
      }
    },
  };
}

async function editing<Found>(
  deps: ConsoleDeps,
  visit: Visit,
  form: Pick<EditForm<never, Found, never, never>, "find">,
  signedIn: SignedIn,
): Promise<Editing<Found>> {
  const messages = readerMessages(visit.request, signedIn.user, visit.organisation);
  return { visit, signedIn, messages, found: await form.find(deps, visit) };
}

interface Shown<Typed> {
  readonly typed: Typed;
  readonly state?: FormState;
  readonly failure?: FormFailure;
  /** As the form had it; what the record is now, when it is left out. */
  readonly seen?: string;
  readonly status?: number;
}

async function showForm<Deps extends ConsoleDeps, Found, Typed, Content>(
  deps: Deps,
  form: EditForm<Deps, Found, Typed, Content>,
  at: Editing<Found>,
  { typed, state = {}, failure, seen, status }: Shown<Typed>,
): Promise<void> {
  const { visit, signedIn, found } = at;
  const frame = await consoleFrame(deps, visit, signedIn, form.current);
  const view = {
    ...frame,
    ...{ typed, state, failure },
    csrf: deps.door.formBinding(visit).csrf,
    seen: seen ?? seenOf(form.seenIn(found)),
    once: form.isRepeatable ? newOnce(deps) : undefined,
    action: ownPath(visit, form),
  };
  await show(visit, frame, await form.page(view, at), status);
}

async function change<Deps extends ConsoleDeps, Found extends { id: string }, Typed, Content>(
  deps: Deps,
  form: EditForm<Deps, Found, Typed, Content>,
  visit: Visit,
): Promise<void> {
  const read = async (sent: Submission) => {
    const at = await editing(deps, visit, form, sent.signedIn);
    // What was seen stays what was seen: the next try must not write over what somebody else saved meanwhile.
    return { at, shown: { typed: form.read(sent, at), seen: sent.values.get("seen") ?? "" } };
  };
  const again = async (refused: Submission, refusal: Refusal) => {
    const { at, shown } = await read(refused);
    await showForm(deps, form, at, { ...shown, ...refusal });
  };
  const path = ownPath(visit, form);
  const sent = await (form.isRepeatable
    ? making(deps, visit, path, again, () => ({}))
    : inTransaction(
        deps,
        await submission(deps, visit, path, (refused, why) => again(refused, notTaken(why))),
      ));
  if (!sent) return;
  const { at, shown } = await read(sent);
  const wanted = await form.contentOf(shown.typed, at);
  if ("faults" in wanted) return showForm(deps, form, at, { ...shown, state: wanted, status: 400 });
  if (form.again !== undefined && sent.values.has(form.again)) return showForm(deps, form, at, shown);
  try {
    const { content } = wanted;
    const uri = await sent.once((database) => kept({ ...deps, database }, form, at, { ...shown, content }));
    if (uri !== undefined) await goTo(visit, uri);
  } catch (error) {
    if (error instanceof ChangedMeanwhile) return showChanged(deps, form, at, shown.typed);
    const refusal = form.refused?.(error, at);
    if (!refusal) throw error;
    const why = "kind" in refusal ? { failure: refusal, status: 409 } : { state: refusal, status: 400 };
    await showForm(deps, form, at, { ...shown, ...why });
  }
}

/** The record that the form is about is not there any more: 404, and it is said why. */
async function showGone(
  deps: ConsoleDeps,
  { current }: { current: ConsolePage },
  visit: Visit,
): Promise<void> {
  const signedIn = await administratorHere(deps, visit, consolePath(visit.organisation));
  if (!signedIn) return;
  const frame = await consoleFrame(deps, visit, signedIn, current);
  await show(visit, frame, goneRecordPage(frame), 404);
}

/** @param inside the transaction. @throws ChangedMeanwhile, NotFound, and what `keep` throws: then nothing is kept */
async function kept<Deps extends ConsoleDeps, Found, Typed, Content>(
  inside: Deps,
  form: EditForm<Deps, Found, Typed, Content>,
  at: Editing<Found>,
  { seen, content }: { seen: string; content: Content },
): Promise<string> {
  const { visit, signedIn } = at;
  await form.hold(inside.database.query, at.found);
  const found = await form.find(inside, visit);
  requireSeen(seen, form.seenIn(found));
  return form.keep(inside, content, { ...at, found, acting: actingOn(visit, signedIn) });
}

/** Who was faster, and what each field that differs is now; sent once more, what was typed is kept. */
async function showChanged<Deps extends ConsoleDeps, Found extends { id: string }, Typed, Content>(
  deps: Deps,
  form: EditForm<Deps, Found, Typed, Content>,
  { visit, signedIn }: Editing<Found>,
  typed: Typed,
): Promise<void> {
  const at = await editing(deps, visit, form, signedIn);
  const isNow = differing(form.inWords(typed, at), form.inWords(form.typedOf(at.found), at));
  const by = await lastChangeOf(deps, visit.organisation.id, at.found.id, at.messages);
  await showForm(deps, form, at, { typed, state: { isNow }, failure: { kind: "changed", by }, status: 409 });
}
