/** system-accounts/{id}/edit: its name, and the form of its signatures. */
import type { FastifyInstance } from "fastify";
import { lastChangeOf } from "../../../console/actor-names.ts";
import { consoleFrame } from "../../../console/console-frame.ts";
import { ChangedMeanwhile, requireSeen, seenOf, submission } from "../../../console/submission.ts";
import {
  actingOn,
  consoleRoute,
  goTo,
  provenAdministrator,
  show,
  type Visit,
} from "../../../console/visit.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import type { SystemAccount } from "../../../core/system-accounts/system-account.ts";
import {
  changeSystemAccount,
  heldAccount,
  isAccountName,
} from "../../../core/system-accounts/system-accounts.ts";
import { boundTo } from "../../../db/open.ts";
import { consoleLayout } from "../../../html/console/console-layout.ts";
import { checkField, textField } from "../../../html/console/fields.ts";
import { differing, type FormState, faultsFailure, fieldState } from "../../../html/console/form-state.ts";
import { type FormFailure, failureNotice, recordForm } from "../../../html/console/record-form.ts";
import { html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { NotFound } from "../../../http/errors.ts";
import { type AccountsDeps, accountCrumbs, accountHere, accountPath, idIn } from "./account-visit.ts";

type Typed = { name: string; isStrict: boolean };

export function editAccountRoute(app: FastifyInstance, deps: AccountsDeps): void {
  consoleRoute(app, deps, "/system-accounts/:id/edit", {
    get: async (visit) => {
      const signedIn = await provenAdministrator(deps, visit, ownPath(visit));
      if (!signedIn) return;
      const account = await accountHere(deps, visit);
      await form(deps, visit, { signedIn, account, typed: typedOf(account) });
    },
    post: (visit) => change(deps, visit),
  });
}

const ownPath = (visit: Visit): string => accountPath(visit.organisation, idIn(visit), "/edit");

const typedOf = ({ name, requiresStrictSignature }: SystemAccount): Typed => ({
  name,
  isStrict: requiresStrictSignature,
});

interface Shown {
  readonly signedIn: SignedIn;
  readonly account: SystemAccount;
  readonly typed: Typed;
  readonly state?: FormState;
  readonly failure?: FormFailure;
  readonly seen?: string | undefined;
  readonly status?: number;
}

async function form(deps: AccountsDeps, visit: Visit, shown: Shown): Promise<void> {
  const { signedIn, account, typed, state = {}, status } = shown;
  const { organisation } = visit;
  const frame = await consoleFrame(deps, visit, signedIn, "systemAccounts");
  const { messages } = frame;
  const { create: text, record } = messages.console.systemAccounts;
  const failure = shown.failure ?? faultsFailure(state, () => text.name);
  const title = record.editTitle(account.name);
  const fields = [
    textField({
      id: "name",
      label: text.name,
      hint: text.nameHint,
      value: typed.name,
      maxLength: 100,
      isRequired: true,
      messages,
      ...fieldState(state, "name"),
    }),
    checkField({
      id: "strict",
      label: text.strict,
      hint: text.strictHint,
      isChecked: typed.isStrict,
      messages,
      ...fieldState(state, "strict"),
    }),
  ];
  const page = consoleLayout({
    ...frame,
    breadcrumbs: accountCrumbs(organisation, account, messages),
    title,
    notice: failureNotice(failure, messages),
    body: html`<section class="card" aria-label="${title}">${recordForm({
      id: "account-form",
      action: ownPath(visit),
      csrf: deps.door.formBinding(visit).csrf,
      seen: shown.seen ?? seenOf(account.version),
      fields,
      submit: { id: "account-save", label: messages.console.frame.form.save },
      cancelUri: accountPath(organisation, account.id),
      messages,
    })}</section>
`,
  });
  await show(visit, frame, page, status);
}

const readTyped = (values: ReadonlyMap<string, string>): Typed => ({
  name: (values.get("name") ?? "").trim(),
  isStrict: values.get("strict") === "on",
});

async function change(deps: AccountsDeps, visit: Visit): Promise<void> {
  const shownFor = async (signedIn: SignedIn, values: ReadonlyMap<string, string>): Promise<Shown> => ({
    signedIn,
    account: await accountHere(deps, visit),
    typed: readTyped(values),
    seen: values.get("seen"),
  });
  const sent = await submission(deps, visit, ownPath(visit), async ({ signedIn, values }) => {
    const shown = await shownFor(signedIn, values);
    await form(deps, visit, { ...shown, failure: { kind: "expired" }, status: 403 });
  });
  if (!sent) return;
  const shown = await shownFor(sent.signedIn, sent.values);
  const { messages } = await consoleFrame(deps, visit, sent.signedIn, "systemAccounts");
  if (!isAccountName(shown.typed.name)) {
    const { name } = messages.console.systemAccounts.faults;
    return form(deps, visit, { ...shown, state: { faults: { name } }, status: 400 });
  }
  try {
    await keep(deps, visit, shown);
  } catch (error) {
    if (error instanceof ChangedMeanwhile) return changedMeanwhile(deps, visit, shown, messages);
    throw error;
  }
  await goTo(visit, accountPath(visit.organisation, shown.account.id, "?done=saved"));
}

/** @throws ChangedMeanwhile; NotFound for one that is gone */
function keep(deps: AccountsDeps, visit: Visit, { signedIn, account, typed, seen }: Shown) {
  const acting = { ...actingOn(visit, signedIn), id: account.id };
  return deps.database.transaction(async (tx) => {
    const present = await heldAccount(tx, acting.orgId, acting.id);
    if (!present) throw new NotFound("system account");
    requireSeen(seen, present.version);
    const inside = { ...deps, database: boundTo(deps.database, tx) };
    const changed = { name: typed.name, requiresStrictSignature: typed.isStrict };
    await changeSystemAccount(inside, { ...acting, ...changed });
  });
}

async function changedMeanwhile(
  deps: AccountsDeps,
  visit: Visit,
  { signedIn, typed }: Shown,
  messages: Messages,
): Promise<void> {
  const account = await accountHere(deps, visit);
  const { yes, no } = messages.console.frame;
  const words = ({ name, isStrict }: Typed) => ({ name, strict: isStrict ? yes : no });
  const isNow = differing(words(typed), words(typedOf(account)));
  const by = await lastChangeOf(deps, visit.organisation.id, account.id, messages);
  const failure: FormFailure = { kind: "changed", by };
  await form(deps, visit, { signedIn, account, typed, state: { isNow }, failure, status: 409 });
}
