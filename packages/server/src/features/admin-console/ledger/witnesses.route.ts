/** ledger/witnesses/new and /{id}/remove: who cosigns the ledger's checkpoints (C2SP tlog-witness). */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
import { MAX_WITNESSES } from "../../../core/ledger/ledger-log.ts";
import { InvalidWitness, type LedgerWitness } from "../../../core/ledger/witness.ts";
import { findWitness } from "../../../core/ledger/witnesses.store.ts";
import { addWitness, removeWitness } from "../../../core/ledger/witnesses.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { textField } from "../../../html/components/fields.ts";
import { fieldsOf, formPage } from "../../../html/components/form-page.ts";
import type { FormShown, FormView } from "../../../html/components/form-state.ts";
import type { Html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { acceptOneTimeForm, applyOnce, duplicateSubmission } from "../../../page-kit/accept-form.ts";
import {
  alreadyApplied,
  type Confirmation,
  confirmationRoute,
  done,
} from "../../../page-kit/confirmation.ts";
import { pageMessages } from "../../../page-kit/console-frame.ts";
import { showFormPage } from "../../../page-kit/form-view.ts";
import {
  auditContext,
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  redirectTo,
  requireRecentAuthentication,
  type Visit,
} from "../../../page-kit/page.ts";
import { askForIdentity } from "../../../page-kit/reauthentication.ts";

export function ledgerWitnessesRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/ledger/witnesses/new", {
    get: showNewWitness,
    post: addFromForm,
  });
  confirmationRoute(app, deps, "/oauth/manage/:org/ledger/witnesses/:id/remove", removal);
}

interface Input {
  readonly url: string;
  readonly verifierKey: string;
}

async function showNewWitness(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const signedIn = await requireRecentAuthentication(deps, visit);
  await showForm(deps, visit, signedIn, { input: { url: "", verifierKey: "" } });
}

const showForm = (deps: ConsoleDeps, visit: Visit, signedIn: SignedIn, shown: FormShown<Input>) =>
  showFormPage(deps, visit, signedIn, "ledger", shown, newWitnessPage);

function newWitnessPage(view: FormView<Input>): Html {
  const { ledger, frame } = view.messages.console;
  const { witnesses: text } = ledger;
  const labels = { url: text.url.label, verifierKey: text.key.label };
  const field = fieldsOf(view, labels);
  const ledgerUri = view.consoleUri("/ledger");
  return formPage({
    ...view,
    breadcrumbs: [{ label: frame.pages.ledger, uri: ledgerUri }],
    ...{ title: text.add, summary: text.addText, cardLabel: text.add, id: "witness-form", labels },
    fields: [
      textField({
        ...(view.state.faults === undefined && { hasFocus: true }),
        ...field("url"),
        ...{ hint: text.url.hint, type: "url", maxLength: 1_000, isRequired: true, isCode: true },
      }),
      textField({
        ...field("verifierKey"),
        ...{ hint: text.key.hint, maxLength: 512, isRequired: true, isCode: true },
      }),
    ],
    submit: { id: "witness-save", label: text.add },
    cancelUri: ledgerUri,
  });
}

async function addFromForm(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const form = await acceptOneTimeForm(deps, visit);
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn, values } = form;
  const typed = (name: keyof Input) => (values.get(name) ?? "").trim();
  const input = { url: typed("url"), verifierKey: typed("verifierKey") };
  const rerender = (shown: Partial<FormShown<Input>>) => showForm(deps, visit, signedIn, { input, ...shown });
  if (form.outcome === "rejected") return rerender(form.refusal);
  const messages = pageMessages(visit, signedIn);
  const uri = consolePath(visit.organisation, "/ledger");
  const wanted = { ...auditContext(visit, signedIn), settings: input };
  try {
    const added = await applyOnce(deps, form, (inside) => addWitness(inside, wanted));
    if (added === "duplicate-submission") {
      const result = { label: messages.console.frame.pages.ledger, uri };
      return await rerender(duplicateSubmission({ result }));
    }
  } catch (error) {
    return rerender({ state: { faults: faultsOf(error, messages) }, status: 400 });
  }
  await redirectTo(visit, `${uri}?done=witnessAdded`);
}

/** By field. @throws what is not about what was typed */
function faultsOf(error: unknown, { console: { ledger } }: Messages): Record<string, string> {
  if (!(error instanceof InvalidWitness)) throw error;
  const { faults } = ledger.witnesses;
  if (error.code === "invalid-url") return { url: faults.url };
  if (error.code === "too-many-witnesses") return { url: faults.full({ count: MAX_WITNESSES }) };
  return { verifierKey: error.code === "known-key" ? faults.known : faults.key };
}

const removal: Confirmation<ConsoleDeps, LedgerWitness> = {
  current: "ledger",
  backUri: (organisation) => consolePath(organisation, "/ledger"),
  breadcrumbs: ({ messages, consoleUri }) => [
    { label: messages.console.frame.pages.ledger, uri: consoleUri("/ledger") },
  ],
  load: async ({ database }, { id: orgId }, { id = "" }) =>
    isUuid(id) ? findWitness(database.query, { orgId, id }) : undefined,
  question: ({ console: { ledger } }, { url }) => ({
    heading: ledger.witnesses.removeHeading({ name: URL.parse(url)?.host ?? url }),
    text: ledger.witnesses.removeText,
    confirm: ledger.witnesses.remove,
    confirmId: "witness-remove-confirm",
  }),
  apply: async (deps, acting, { id }) =>
    (await removeWitness(deps, { ...acting, id })) ? done("witnessRemoved") : alreadyApplied,
};
