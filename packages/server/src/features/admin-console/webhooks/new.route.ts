/** webhooks/new: where events are sent, and which; the secret is shown once. */
import type { FastifyInstance } from "fastify";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { createWebhook } from "../../../core/webhooks/webhooks.ts";
import { formPage } from "../../../html/components/form-page.ts";
import type { FormShown, FormView } from "../../../html/components/form-state.ts";
import type { Html } from "../../../html/html.ts";
import { acceptOneTimeForm, applyOnce, duplicateSubmission } from "../../../page-kit/accept-form.ts";
import { pageMessages } from "../../../page-kit/console-frame.ts";
import { showFormPage } from "../../../page-kit/form-view.ts";
import {
  auditContext,
  consolePath,
  consoleRoute,
  requireRecentAuthentication,
  type Visit,
} from "../../../page-kit/page.ts";
import { askForIdentity } from "../../../page-kit/reauthentication.ts";
import {
  emptyWebhook,
  patternsIn,
  readWebhookInput,
  type WebhookInput,
  webhookFields,
  webhookLabels,
} from "./fields.page.ts";
import { showWebhookSecret } from "./secret.route.ts";
import { WEBHOOKS, type WebhooksDeps, webhookFaults, webhookPages } from "./webhook-pages.ts";

export const newWebhookRoute = (app: FastifyInstance, deps: WebhooksDeps): void =>
  consoleRoute(app, deps, "/oauth/manage/:org/webhooks/new", { get: showNewWebhook, post: createFromForm });

async function showNewWebhook(deps: WebhooksDeps, visit: Visit): Promise<void> {
  const signedIn = await requireRecentAuthentication(deps, visit);
  await showForm(deps, visit, signedIn, { input: emptyWebhook });
}

const showForm = (deps: WebhooksDeps, visit: Visit, signedIn: SignedIn, shown: FormShown<WebhookInput>) =>
  showFormPage(deps, visit, signedIn, "webhooks", shown, newWebhookPage);

function newWebhookPage(view: FormView<WebhookInput>): Html {
  const { webhooks: text } = view.messages.console;
  return formPage({
    ...view,
    breadcrumbs: webhookPages.listCrumbs(view),
    ...{ title: text.make, summary: text.newText, cardLabel: text.make, id: "webhook-form" },
    labels: webhookLabels(view.messages),
    fields: webhookFields(view),
    submit: { id: "webhook-create", label: text.create },
    cancelUri: view.consoleUri(WEBHOOKS),
  });
}

async function createFromForm(deps: WebhooksDeps, visit: Visit): Promise<void> {
  const form = await acceptOneTimeForm(deps, visit);
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn } = form;
  const input = readWebhookInput(form);
  const rerender = (shown: Partial<FormShown<WebhookInput>>) =>
    showForm(deps, visit, signedIn, { input, ...shown });
  if (form.outcome === "rejected") return rerender(form.refusal);

  const messages = pageMessages(visit, signedIn);
  const settings = { url: input.url, events: patternsIn(input), enabled: true };
  const wanted = { ...auditContext(visit, signedIn), settings };
  try {
    const created = await applyOnce(deps, form, (inside) => createWebhook(inside, wanted));
    if (created === "duplicate-submission") {
      const { frame, webhooks } = messages.console;
      const result = { label: frame.pages.webhooks, uri: consolePath(visit.organisation, WEBHOOKS) };
      return await rerender(duplicateSubmission({ result, secret: webhooks.secret.sentBefore }));
    }
    await showWebhookSecret(deps, visit, signedIn, created);
  } catch (error) {
    const refusal = webhookFaults(error, messages);
    if (!refusal) throw error;
    await rerender("kind" in refusal ? { failure: refusal, status: 409 } : { state: refusal, status: 400 });
  }
}
