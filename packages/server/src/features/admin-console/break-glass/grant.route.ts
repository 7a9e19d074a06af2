/** break-glass/grant: one more administrator who may sign in past an enforced connection. */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
import { listBreakGlassAccounts } from "../../../core/break-glass/break-glass.store.ts";
import { grantBreakGlass, InvalidBreakGlass } from "../../../core/break-glass/break-glass.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { listActiveAdministrators } from "../../../core/users/members/administrators.store.ts";
import { type Choice, selectField } from "../../../html/components/fields.ts";
import { fieldsOf, formPage } from "../../../html/components/form-page.ts";
import type { FormShown, FormView } from "../../../html/components/form-state.ts";
import type { Html } from "../../../html/html.ts";
import { acceptForm } from "../../../page-kit/accept-form.ts";
import { pageMessages } from "../../../page-kit/console-frame.ts";
import { formView } from "../../../page-kit/form-view.ts";
import {
  auditContext,
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  redirectTo,
  requireRecentAuthentication,
  show,
  type Visit,
} from "../../../page-kit/page.ts";
import { askForIdentity } from "../../../page-kit/reauthentication.ts";

export const breakGlassGrantRoute = (app: FastifyInstance, deps: ConsoleDeps): void =>
  consoleRoute(app, deps, "/oauth/manage/:org/break-glass/grant", { get: showGrant, post: grantFromForm });

interface Grant {
  readonly user: string;
}

async function showGrant(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const signedIn = await requireRecentAuthentication(deps, visit);
  await showForm(deps, visit, signedIn, { input: { user: "" } });
}

async function showForm(
  deps: ConsoleDeps,
  visit: Visit,
  signedIn: SignedIn,
  shown: FormShown<Grant>,
): Promise<void> {
  // Granted twice it is granted once: no submission token.
  const view = await formView(deps, visit, signedIn, "breakGlass", shown, {});
  await show(visit, view, grantPage(view, await choicesOf(deps, visit)), shown.status);
}

const MAX_CHOICES = 200;

/** Administrators who aren't one yet, oldest first. */
async function choicesOf({ database }: ConsoleDeps, { organisation }: Visit): Promise<Choice[]> {
  const given = await listBreakGlassAccounts(database.query, organisation.id);
  const administrators = await listActiveAdministrators(database.query, organisation.id, {
    limit: MAX_CHOICES,
  });
  return administrators
    .filter(({ id }) => !given.some(({ userId }) => userId === id))
    .map(({ id, email }) => ({ value: id, label: email }));
}

function grantPage(view: FormView<Grant>, choices: readonly Choice[]): Html {
  const { breakGlass: text, frame } = view.messages.console;
  const labels = { user: text.account };
  const listUri = view.consoleUri("/break-glass");
  return formPage({
    ...view,
    breadcrumbs: [{ label: frame.pages.breakGlass, uri: listUri }],
    ...{ title: text.grant, summary: text.grantText, cardLabel: text.grant, id: "break-glass-form", labels },
    fields: selectField({
      ...fieldsOf(view, labels)("user"),
      hint: text.accountHint,
      choices: [{ value: "", label: text.choose }, ...choices],
    }),
    submit: { id: "break-glass-save", label: text.grant },
    cancelUri: listUri,
  });
}

async function grantFromForm(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const form = await acceptForm(deps, visit);
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn } = form;
  const input = { user: form.values.get("user") ?? "" };
  const rerender = (shown: Partial<FormShown<Grant>>) => showForm(deps, visit, signedIn, { input, ...shown });
  if (form.outcome === "rejected") return rerender(form.refusal);
  const { faults } = pageMessages(visit, signedIn).console.breakGlass;
  const refuse = (fault: string) => rerender({ state: { faults: { user: fault } }, status: 400 });
  if (!isUuid(input.user)) return refuse(faults["unknown-user"]);
  try {
    const userId = input.user.toLowerCase();
    await grantBreakGlass(deps, { ...auditContext(visit, signedIn), userId });
  } catch (error) {
    if (!(error instanceof InvalidBreakGlass)) throw error;
    return refuse(faults[error.code]);
  }
  await redirectTo(visit, consolePath(visit.organisation, "/break-glass?done=granted"));
}
