/**
 * An act on ticked rows of a list: a page that lists what will happen, and then each act by the rule of the single one,
 * in a transaction of its own, so that a refused row stops no other.
 */
import type { FastifyInstance } from "fastify";
import type { Organisation } from "../core/organisations/organisation.ts";
import { type BulkOutcome, bulkQuestionPage, bulkResultPage } from "../html/components/bulk.page.ts";
import type { BulkBar } from "../html/components/bulk-bar.ts";
import type { Messages } from "../html/messages/messages.ts";
import {
  acceptForm,
  applyOnce,
  duplicateSubmission,
  newSubmissionToken,
  type Refusal,
  requireFreshNonce,
  type SentForm,
} from "./accept-form.ts";
import type { Confirmation, Confirmed } from "./confirmation.ts";
import { type ConsolePage, consoleFrame, pageMessages } from "./console-frame.ts";
import { PAGE_SIZES } from "./list-place.ts";
import {
  auditContext,
  type CONSOLE,
  type ConsoleDeps,
  consoleRoute,
  redirectTo,
  requestPath,
  show,
  type Visit,
} from "./page.ts";
import { askForIdentity } from "./reauthentication.ts";

const MAX_ROWS = PAGE_SIZES[2];

/** A record that an act is about. */
interface Prepared<Deps> {
  readonly name: string;
  readonly isDone: boolean;
  apply(
    deps: Deps,
    acting: ReturnType<typeof auditContext>,
    confirmed: Confirmed,
  ): ReturnType<Confirmation<Deps, unknown>["apply"]>;
}

export interface BulkAct<Deps> {
  /** Also on the button of the list. */
  readonly label: (messages: Messages) => string;
  readonly question: (messages: Messages, count: number) => { heading: string; text: string };
  readonly isHarmless?: boolean;
  /** Can't be undone: the organisation's name has to be typed. */
  readonly isPermanent?: boolean;
  /** @returns undefined for a record of another organisation, and one that this can't be done to */
  prepare(deps: Deps, organisation: Organisation, id: string): Promise<Prepared<Deps> | undefined>;
}

/** As the page of one record does it. */
export const asConfirmed =
  <Deps, Pending>(
    { load, isDone, apply }: Pick<Confirmation<Deps, Pending>, "load" | "isDone" | "apply">,
    name: (pending: Pending) => string,
  ): BulkAct<Deps>["prepare"] =>
  async (deps, organisation, id) => {
    const pending = await load(deps, organisation, { id });
    return (
      pending && {
        name: name(pending),
        isDone: isDone?.(deps, pending) ?? false,
        apply: (inside, acting, confirmed) => apply(inside, acting, pending, confirmed),
      }
    );
  };

export interface BulkActs<Deps> {
  readonly current: ConsolePage;
  readonly acts: Readonly<Record<string, BulkAct<Deps>>>;
  /** Of a record of this list, for the result: also where the act can't be done. */
  nameOf(deps: Deps, organisation: Organisation, id: string): Promise<string | undefined>;
  /** The list, with the filters of the query that it gave along. */
  listUri(visit: Visit, values: ReadonlyMap<string, string>): string;
}

export function bulkRoute<Deps extends ConsoleDeps>(
  app: FastifyInstance,
  deps: Deps,
  url: `${typeof CONSOLE}/${string}/bulk`,
  bulk: BulkActs<Deps>,
): void {
  consoleRoute(app, deps, url, {
    // Where a sign-in returns to: what was ticked is gone.
    get: (_, visit) => redirectTo(visit, bulk.listUri(visit, new Map())),
    post: (_, visit) => answerBulk(deps, visit, bulk),
  });
}

async function answerBulk<Deps extends ConsoleDeps>(
  deps: Deps,
  visit: Visit,
  bulk: BulkActs<Deps>,
): Promise<void> {
  const form = await acceptForm(deps, visit);
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const name = form.values.get("act") ?? "";
  const act = Object.hasOwn(bulk.acts, name) ? bulk.acts[name] : undefined;
  const ids = selectedIds(form);
  const backUri = bulk.listUri(visit, new Map(new URLSearchParams(form.values.get("back") ?? "")));
  if (!act || ids.length === 0) return redirectTo(visit, backUri);
  const step = { ...bulk, act, name, ids, backUri };
  if (form.outcome === "rejected") return ask(deps, visit, form, step, form.refusal);
  if (form.values.get("confirmed") !== "yes") return ask(deps, visit, form, step);

  const once = requireFreshNonce(deps, visit, form);
  if (once.outcome === "rejected") return ask(deps, visit, form, step, once.refusal);
  if (act.isPermanent && form.values.get("name")?.trim() !== visit.organisation.name.trim())
    return ask(deps, visit, form, step, { isWrongName: true, status: 400 });
  // Before the acts: each has a transaction of its own, and none is done twice.
  if ((await applyOnce(deps, once, async () => undefined)) === "duplicate-submission")
    return ask(deps, visit, form, step, duplicateSubmission());
  const outcomes = await applyAll(deps, visit, form, step);
  const frame = await consoleFrame(deps, visit, form.signedIn, bulk.current);
  await show(visit, frame, bulkResultPage({ ...frame, label: act.label(frame.messages), outcomes, backUri }));
}

/** The buttons below a list. The form gives the list's query along, so that the way back leads there. */
export const bulkBar = <Deps>(
  { browserSession }: Pick<ConsoleDeps, "browserSession">,
  visit: Visit,
  acts: Readonly<Record<string, BulkAct<Deps>>>,
  messages: Messages,
): BulkBar => ({
  action: `${requestPath(visit)}/bulk`,
  hidden: [
    { name: "csrf", value: browserSession.formBinding(visit).csrf },
    { name: "back", value: visit.request.url.split("?")[1] ?? "" },
  ],
  acts: Object.entries(acts).map(([value, act]) => ({
    id: `bulk-${value}`,
    label: act.label(messages),
    value,
    kind: act.isPermanent ? "danger" : "secondary",
  })),
});

/** Each once, in the list's order. */
const selectedIds = (form: SentForm): string[] => [...new Set(form.all("selected"))].slice(0, MAX_ROWS);

interface Step<Deps> extends BulkActs<Deps> {
  readonly act: BulkAct<Deps>;
  readonly name: string;
  readonly ids: readonly string[];
  readonly backUri: string;
}

async function ask<Deps extends ConsoleDeps>(
  deps: Deps,
  visit: Visit,
  form: SentForm,
  { act, name, ids, backUri, nameOf, current }: Step<Deps>,
  refusal: Partial<Refusal> & { isWrongName?: boolean } = {},
): Promise<void> {
  const { organisation } = visit;
  const frame = await consoleFrame(deps, visit, form.signedIn, current);
  const { list } = frame.messages.console.frame;
  const rows: BulkOutcome[] = [];
  for (const id of ids) {
    const prepared = await act.prepare(deps, organisation, id);
    const called = prepared?.name ?? (await nameOf(deps, organisation, id));
    if (called === undefined) continue;
    const reason = prepared ? (prepared.isDone ? list.already : undefined) : list.notPossible;
    rows.push({ name: called, reason });
  }
  const affected = rows.filter(({ reason }) => reason === undefined);
  if (affected.length === 0 && refusal.failure === undefined)
    return show(
      visit,
      frame,
      bulkResultPage({ ...frame, label: act.label(frame.messages), outcomes: rows, backUri }),
    );
  const page = bulkQuestionPage({
    ...frame,
    ...act.question(frame.messages, affected.length),
    label: act.label(frame.messages),
    rows,
    ids,
    act: name,
    back: form.values.get("back") ?? "",
    isHarmless: act.isHarmless ?? false,
    name: act.isPermanent ? organisation.name : undefined,
    typedName: form.values.get("name") ?? "",
    isWrongName: refusal.isWrongName ?? false,
    failure: refusal.failure,
    csrf: deps.browserSession.formBinding(visit).csrf,
    once: newSubmissionToken(deps),
    action: requestPath(visit),
    backUri,
  });
  await show(visit, frame, page, refusal.status);
}

/** One after the other: two acts on one organisation would wait for each other anyway. */
async function applyAll<Deps extends ConsoleDeps>(
  deps: Deps,
  visit: Visit,
  { signedIn, values }: SentForm,
  { act, ids, nameOf }: Step<Deps>,
): Promise<BulkOutcome[]> {
  const { organisation } = visit;
  const messages = pageMessages(visit, signedIn);
  const { list } = messages.console.frame;
  const confirmed: Confirmed = { organisation, signedIn, messages, values };
  const outcomes: BulkOutcome[] = [];
  for (const id of ids) {
    const prepared = await act.prepare(deps, organisation, id);
    if (!prepared) {
      const name = await nameOf(deps, organisation, id);
      if (name !== undefined) outcomes.push({ name, reason: list.notPossible });
      continue;
    }
    const { name } = prepared;
    if (prepared.isDone) {
      outcomes.push({ name, reason: list.already });
      continue;
    }
    const result = await prepared.apply(deps, auditContext(visit, signedIn), confirmed);
    if (result.kind === "applied" || result.kind === "done") outcomes.push({ name, reason: undefined });
    else if (result.kind === "refused") outcomes.push({ name, reason: result.title });
    else outcomes.push({ name, reason: list.already });
  }
  return outcomes;
}
