/**
 * A page that asks for confirmation before something ends, and what its button does; what cannot be undone asks for the
 * record's name to be typed. Both the page and the button ask for a recent sign-in.
 */
import type { FastifyInstance } from "fastify";
import type { Organisation } from "../core/organisations/organisation.ts";
import type { SignedIn } from "../core/sessions/session.ts";
import { type ConfirmActView, confirmActPage } from "../html/components/act.page.ts";
import type { ConsoleFrame, ConsoleView } from "../html/components/console-layout.ts";
import type { FormFailure } from "../html/components/record-form.ts";
import { html } from "../html/html.ts";
import type { Messages } from "../html/messages/messages.ts";
import { NotFound } from "../http/errors.ts";
import {
  type AcceptedForm,
  acceptActionForm,
  applyOnce,
  duplicateSubmission,
  newSubmissionToken,
  type OneTimeForm,
} from "./accept-form.ts";
import { ALREADY_APPLIED, type ConsolePage, consoleFrame, pageMessages } from "./console-frame.ts";
import {
  auditContext,
  type CONSOLE,
  type ConsoleDeps,
  consoleRoute,
  pathParams,
  redirectTo,
  requestPath,
  requireRecentAuthentication,
  show,
  type Visit,
} from "./page.ts";
import { askForIdentity } from "./reauthentication.ts";

export type ConfirmationResult =
  /** @param uri where the browser goes */
  | { readonly kind: "applied"; readonly uri: string }
  /** As the page before tells, under this key of its texts. */
  | { readonly kind: "done"; readonly text: string }
  /** Nothing was left to do; `uri` where that is not the page before. */
  | { readonly kind: "already-applied"; readonly uri?: string }
  | FormFailure;

export const applied = (uri: string): ConfirmationResult => ({ kind: "applied", uri });
export const done = (text: string): ConfirmationResult => ({ kind: "done", text });
export const alreadyApplied: ConfirmationResult = { kind: "already-applied" };

export interface Confirmed {
  readonly organisation: Organisation;
  readonly signedIn: SignedIn;
  readonly messages: Messages;
  readonly values: ReadonlyMap<string, string>;
}

export interface Confirmation<Deps, Pending> {
  readonly current: ConsolePage;
  /** See `acceptActionForm`. */
  readonly isRepeatable?: true;
  load(
    deps: Deps,
    organisation: Organisation,
    params: Readonly<Record<string, string>>,
    /** Undefined for a row of a list. */
    visit?: Visit,
  ): Promise<Pending | undefined>;
  /** The page before: where "Cancel" leads. */
  backUri(organisation: Organisation, pending: Pending): string;
  /** Where they are no part of the question. */
  breadcrumbs?(frame: ConsoleFrame, pending: Pending): ConsoleView["breadcrumbs"];
  /** Nothing is left to do: the browser goes to the page before. */
  isDone?(deps: Deps, pending: Pending): boolean;
  question(
    messages: Messages,
    pending: Pending,
    organisation: Organisation,
    deps: Deps,
  ): Pick<ConfirmActView, "heading" | "text" | "confirm" | "confirmId" | "isHarmless" | "fields" | "name"> &
    Partial<Pick<ConfirmActView, "breadcrumbs">>;
  apply(
    deps: Deps,
    acting: ReturnType<typeof auditContext>,
    pending: Pending,
    confirmed: Confirmed,
  ): Promise<ConfirmationResult>;
}

/** Registers the page that asks, and what its form does. */
export function confirmationRoute<Deps extends ConsoleDeps, Pending>(
  app: FastifyInstance,
  deps: Deps,
  url: `${typeof CONSOLE}/${string}`,
  confirmation: Confirmation<Deps, Pending>,
): void {
  consoleRoute(app, deps, url, {
    get: (_, visit) => showConfirmation(deps, visit, confirmation),
    post: (_, visit) => confirm(deps, visit, confirmation),
  });
}

export async function showConfirmation<Deps extends ConsoleDeps, Pending>(
  deps: Deps,
  visit: Visit,
  confirmation: Confirmation<Deps, Pending>,
): Promise<void> {
  const signedIn = await requireRecentAuthentication(deps, visit);
  await ask(deps, visit, signedIn, confirmation);
}

/** What a page says by itself in its query stays. */
const withAlready = (uri: string): string => (uri.includes("?") ? uri : `${uri}?done=${ALREADY_APPLIED}`);

interface QuestionState {
  readonly typedName?: string;
  readonly isWrongName?: boolean;
  readonly failure?: FormFailure | undefined;
  readonly status?: number;
}

/** Asks, or redirects when another request has done it. @throws NotFound */
async function ask<Deps extends ConsoleDeps, Pending>(
  deps: Deps,
  visit: Visit,
  signedIn: SignedIn,
  confirmation: Confirmation<Deps, Pending>,
  { status, ...state }: QuestionState = {},
): Promise<void> {
  const { organisation } = visit;
  const pending = await loadPending(deps, visit, confirmation);
  const backUri = confirmation.backUri(organisation, pending);
  if (confirmation.isDone?.(deps, pending)) return redirectTo(visit, withAlready(backUri));
  const frame = await consoleFrame(deps, visit, signedIn, confirmation.current);
  const question = confirmation.question(frame.messages, pending, organisation, deps);
  const page = confirmActPage({
    breadcrumbs: confirmation.breadcrumbs?.(frame, pending) ?? [],
    ...frame,
    ...question,
    text: typeof question.text === "string" ? html`<p>${question.text}</p>` : question.text,
    ...state,
    csrf: deps.browserSession.formBinding(visit).csrf,
    once: confirmation.isRepeatable ? newSubmissionToken(deps) : undefined,
    action: requestPath(visit),
    backUri,
  });
  await show(visit, frame, page, status);
}

async function loadPending<Deps, Pending>(
  deps: Deps,
  visit: Visit,
  { load }: Pick<Confirmation<Deps, Pending>, "load">,
): Promise<Pending> {
  const pending = await load(deps, visit.organisation, pathParams(visit), visit);
  if (!pending) throw new NotFound("record");
  return pending;
}

export async function confirm<Deps extends ConsoleDeps, Pending>(
  deps: Deps,
  visit: Visit,
  confirmation: Confirmation<Deps, Pending>,
): Promise<void> {
  const { organisation } = visit;
  const form = await acceptActionForm(deps, visit, confirmation);
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn, values } = form;
  const typedName = values.get("name") ?? "";
  const rerender = (state: QuestionState) =>
    ask(deps, visit, signedIn, confirmation, { typedName, ...state });
  if (form.outcome === "rejected") return rerender(form.refusal);

  const pending = await loadPending(deps, visit, confirmation);
  const backUri = confirmation.backUri(organisation, pending);
  if (confirmation.isDone?.(deps, pending)) return redirectTo(visit, withAlready(backUri));
  const messages = pageMessages(visit, signedIn);
  const { name } = confirmation.question(messages, pending, organisation, deps);
  if (name !== undefined && !isSameName(typedName, name)) return rerender({ isWrongName: true, status: 400 });

  const confirmed = { organisation, signedIn, messages, values };
  const result = await apply(deps, visit, confirmation, { form, pending, confirmed });
  if (result === "duplicate-submission") return rerender(duplicateSubmission());
  if (result.kind === "applied") return redirectTo(visit, result.uri);
  if (result.kind === "done") return redirectTo(visit, `${backUri}?done=${result.text}`);
  if (result.kind === "already-applied") return redirectTo(visit, withAlready(result.uri ?? backUri));
  await rerender({ failure: result, status: 409 });
}

/** Rolls back what `apply` wrote before it found that there was nothing to do. */
class RolledBackAsApplied extends Error {
  readonly result: ConfirmationResult;
  constructor(result: ConfirmationResult) {
    super("nothing to do");
    this.result = result;
  }
}

/** What cannot be repeated runs in transactions of its own. */
async function apply<Deps extends ConsoleDeps, Pending>(
  deps: Deps,
  visit: Visit,
  confirmation: Confirmation<Deps, Pending>,
  { form, pending, confirmed }: { form: AcceptedForm | OneTimeForm; pending: Pending; confirmed: Confirmed },
): Promise<ConfirmationResult | "duplicate-submission"> {
  const acting = auditContext(visit, form.signedIn);
  if (!("submissionToken" in form)) return confirmation.apply(deps, acting, pending, confirmed);
  try {
    return await applyOnce(deps, form, async (inside) => {
      const result = await confirmation.apply(inside, acting, pending, confirmed);
      if (result.kind === "already-applied") throw new RolledBackAsApplied(result);
      return result;
    });
  } catch (error) {
    if (error instanceof RolledBackAsApplied) return error.result;
    throw error;
  }
}

/** White space at the ends is easily copied along, and Unicode writes one letter in several ways. */
export const isSameName = (typed: string, name: string): boolean =>
  typed.trim().normalize("NFC") === name.trim().normalize("NFC");
