/**
 * An act on ticked rows of a list: a page that lists what will happen, and then each act by the rule of the single one,
 * in a transaction of its own, so that a refused row stops no other.
 */
import { isUuid } from "@signet/protocol/hash";
import { type BulkOutcome, bulkQuestionPage, bulkResultPage } from "../../html/components/bulk.page.ts";
import type { BulkBar } from "../../html/components/bulk-bar.ts";
import type { Undo } from "../../html/components/toast.ts";
import type { Messages } from "../../html/messages/messages.ts";
import {
  acceptForm,
  applyOnce,
  duplicateSubmission,
  newSubmissionToken,
  type Refusal,
  requireFreshNonce,
  type SentForm,
} from "../accept-form.ts";
import { type Confirmed, isSameName } from "../confirmation.ts";
import { consoleFrame, pageMessages } from "../console-frame.ts";
import { auditContext, type ConsoleDeps, redirectTo, requestPath, show, type Visit } from "../page.ts";
import { askForIdentity } from "../reauthentication.ts";
import type { BulkAct } from "./bulk-act.ts";
import type { AnyList } from "./list.ts";
import { listUri } from "./list-address.ts";
import { PAGE_SIZES } from "./list-place.ts";

const MAX_ROWS = PAGE_SIZES[2];

type ListWithActs<Deps> = AnyList<Deps> & Required<Pick<AnyList<Deps>, "acts" | "findName">>;

/** Handlers of a list's acts: their route writes the address. */
export function bulkHandlers<Deps extends ConsoleDeps>(list: ListWithActs<Deps>) {
  return {
    // Where a sign-in returns to: what was ticked is gone.
    get: (_: Deps, visit: Visit) => redirectTo(visit, list.uri(visit.organisation)),
    post: (deps: Deps, visit: Visit) => answerBulk(deps, visit, list),
  };
}

async function answerBulk<Deps extends ConsoleDeps>(
  deps: Deps,
  visit: Visit,
  list: ListWithActs<Deps>,
): Promise<void> {
  const form = await acceptForm(deps, visit);
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const name = form.values.get("act") ?? "";
  const act = Object.hasOwn(list.acts, name) ? list.acts[name] : undefined;
  const ids = selectedIds(form);
  const back = new Map(new URLSearchParams(form.values.get("back") ?? ""));
  const backUri = listUri(list, visit.organisation, back);
  if (!act || ids.length === 0) return redirectTo(visit, backUri);
  const step: Step<Deps> = { list, act, name, ids, backUri };
  if (form.outcome === "rejected") return ask(deps, visit, form, step, form.refusal);
  if (form.values.get("confirmed") !== "yes") return ask(deps, visit, form, step);

  const once = requireFreshNonce(deps, visit, form);
  if (once.outcome === "rejected") return ask(deps, visit, form, step, once.refusal);
  if (act.isPermanent && !isSameName(form.values.get("name") ?? "", visit.organisation.name))
    return ask(deps, visit, form, step, { isWrongName: true, status: 400 });
  // Before the acts: each has a transaction of its own, and none is done twice.
  if ((await applyOnce(deps, once, async () => undefined)) === "duplicate-submission")
    return ask(deps, visit, form, step, duplicateSubmission());
  const outcomes = await applyAll(deps, visit, form, step);
  const frame = await consoleFrame(deps, visit, form.signedIn, list.current);
  const undo = undoOfActs(deps, visit, form, step, outcomes, frame.messages);
  await show(
    visit,
    frame,
    bulkResultPage({ ...frame, undo, label: act.label(frame.messages), outcomes, backUri }),
  );
}

/** What each act can be taken back with. */
const opposites: Readonly<Record<string, string>> = {
  disable: "enable",
  enable: "disable",
  makeAdministrator: "makeMember",
  makeMember: "makeAdministrator",
};

/** Asks before it does the opposite to those that the act was done to, and to no other. */
function undoOfActs<Deps extends ConsoleDeps>(
  { browserSession }: Pick<ConsoleDeps, "browserSession">,
  visit: Visit,
  form: SentForm,
  { list, name }: Step<Deps>,
  outcomes: readonly BulkOutcome[],
  messages: Messages,
): Undo | undefined {
  const opposite = opposites[name] ?? "";
  const ids = outcomes.flatMap(({ id }) => id ?? []);
  if (!Object.hasOwn(list.acts, opposite) || ids.length === 0) return undefined;
  return {
    action: requestPath(visit),
    label: messages.console.frame.undo,
    fields: [
      { name: "csrf", value: browserSession.formBinding(visit).csrf },
      { name: "act", value: opposite },
      { name: "back", value: form.values.get("back") ?? "" },
      ...ids.map((value) => ({ name: "selected", value })),
    ],
  };
}

/** The buttons below a list. The form gives the list's query along, so that the way back leads there. */
export const bulkBar = <Deps>(
  { browserSession }: Pick<ConsoleDeps, "browserSession">,
  visit: Visit,
  { uri }: Pick<AnyList<Deps>, "uri">,
  acts: Readonly<Record<string, BulkAct<Deps>>>,
  messages: Messages,
): BulkBar => ({
  action: uri(visit.organisation, "/bulk"),
  hidden: [
    { name: "csrf", value: browserSession.formBinding(visit).csrf },
    { name: "back", value: visit.request.url.split("?")[1] ?? "" },
  ],
  acts: Object.entries(acts).map(([value, act]) => ({
    id: `bulk-${value}`,
    label: act.label(messages),
    value,
    kind: act.isPermanent || act.isRemoval ? "danger" : "secondary",
  })),
});

/** Each once, however it is written, in the list's order. */
const selectedIds = (form: SentForm): string[] =>
  [...new Set(form.all("selected").map((id) => (isUuid(id) ? id.toLowerCase() : id)))].slice(0, MAX_ROWS);

interface Step<Deps> {
  readonly list: ListWithActs<Deps>;
  readonly act: BulkAct<Deps>;
  readonly name: string;
  readonly ids: readonly string[];
  readonly backUri: string;
}

async function ask<Deps extends ConsoleDeps>(
  deps: Deps,
  visit: Visit,
  form: SentForm,
  { list: { findName, current }, act, name, ids, backUri }: Step<Deps>,
  refusal: Partial<Refusal> & { isWrongName?: boolean } = {},
): Promise<void> {
  const { organisation } = visit;
  const frame = await consoleFrame(deps, visit, form.signedIn, current);
  const { messages } = frame;
  const { list } = messages.console.frame;
  const rows: BulkOutcome[] = [];
  for (const id of ids) {
    const prepared = await act.prepare(deps, organisation, id, messages);
    const called = prepared?.name ?? (await findName(deps, organisation, id, messages));
    if (called === undefined) continue;
    const reason = prepared ? (prepared.isDone ? list.already : undefined) : list.notPossible;
    rows.push({ name: called, reason });
  }
  const affected = rows.filter(({ reason }) => reason === undefined);
  if (affected.length === 0 && refusal.failure === undefined)
    return show(
      visit,
      frame,
      bulkResultPage({ ...frame, label: act.label(messages), outcomes: rows, backUri }),
    );
  const page = bulkQuestionPage({
    ...frame,
    ...act.question(messages, affected.length),
    label: act.label(messages),
    rows,
    ids,
    act: name,
    back: form.values.get("back") ?? "",
    isHarmless: act.isHarmless ?? false,
    fields: act.fields?.(messages),
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

/**
 * One after the other: two acts on one organisation would wait for each other anyway. A fault ends it: what is done stays done and
 * is told, as the form can't be sent again.
 */
async function applyAll<Deps extends ConsoleDeps>(
  deps: Deps,
  visit: Visit,
  form: SentForm,
  step: Step<Deps>,
): Promise<BulkOutcome[]> {
  const { organisation, request } = visit;
  const messages = pageMessages(visit, form.signedIn);
  const { list } = messages.console.frame;
  const outcomes: BulkOutcome[] = [];
  let reason: string | undefined;
  for (const id of step.ids) {
    try {
      if (reason === undefined && !(await mayAct(deps, visit, form))) reason = list.notAllowed;
      if (reason === undefined) outcomes.push(...(await applyOne(deps, visit, form, step, id)));
    } catch (error) {
      reason = list.wentWrong;
      deps.logFault(error, request.id);
    }
    if (reason === undefined) continue;
    const name = await step.list.findName(deps, organisation, id, messages).catch(() => id);
    if (name !== undefined) outcomes.push({ name, reason });
  }
  return outcomes;
}

/** Again for every row: whoever lost the role or the session amid a hundred acts does not finish them. */
async function mayAct(deps: ConsoleDeps, visit: Visit, { signedIn: { user } }: SentForm): Promise<boolean> {
  const signedIn = await deps.browserSession.peekSession(visit);
  return signedIn?.user.id === user.id && signedIn.user.role === "Administrator";
}

/** @returns none for what is no record of the organisation */
async function applyOne<Deps extends ConsoleDeps>(
  deps: Deps,
  visit: Visit,
  { signedIn, values }: SentForm,
  { list: { findName }, act }: Step<Deps>,
  id: string,
): Promise<BulkOutcome[]> {
  const { organisation } = visit;
  const messages = pageMessages(visit, signedIn);
  const { list } = messages.console.frame;
  const prepared = await act.prepare(deps, organisation, id, messages);
  if (!prepared) {
    const name = await findName(deps, organisation, id, messages);
    return name === undefined ? [] : [{ name, reason: list.notPossible }];
  }
  const { name } = prepared;
  if (prepared.isDone) return [{ name, reason: list.already }];
  const confirmed: Confirmed = { organisation, signedIn, messages, values };
  const result = await prepared.apply(deps, auditContext(visit, signedIn), confirmed);
  if (result.kind === "applied" || result.kind === "done") return [{ id, name, reason: undefined }];
  return [{ name, reason: result.kind === "refused" ? result.title : list.already }];
}
