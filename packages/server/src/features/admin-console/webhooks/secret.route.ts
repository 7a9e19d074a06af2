/** webhooks/{id}/secret/new: a new secret, beside which the one before signs for a time; and the page that shows it once. */
import type { FastifyInstance } from "fastify";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { DEFAULT_OVERLAP_SECONDS, type Webhook } from "../../../core/webhooks/webhook.ts";
import { rotateWebhookSecret } from "../../../core/webhooks/webhooks.ts";
import { shownOncePage } from "../../../html/components/act.page.ts";
import { radioField } from "../../../html/components/fields.ts";
import { fieldsOf, formPage } from "../../../html/components/form-page.ts";
import type { FormShown, FormView } from "../../../html/components/form-state.ts";
import type { Html } from "../../../html/html.ts";
import { NotFound } from "../../../http/errors.ts";
import { acceptOneTimeForm, applyOnce, duplicateSubmission } from "../../../page-kit/accept-form.ts";
import { consoleFrame, pageMessages } from "../../../page-kit/console-frame.ts";
import { showFormPage } from "../../../page-kit/form-view.ts";
import {
  auditContext,
  consoleRoute,
  requireId,
  requireRecentAuthentication,
  show,
  type Visit,
} from "../../../page-kit/page.ts";
import { askForIdentity } from "../../../page-kit/reauthentication.ts";
import { hostOf, SECRET, type WebhooksDeps, webhookPages } from "./webhook-pages.ts";

export const webhookSecretRoute = (app: FastifyInstance, deps: WebhooksDeps): void =>
  consoleRoute(app, deps, "/oauth/manage/:org/webhooks/:id/secret/new", {
    get: showRotation,
    post: rotateFromForm,
  });

/** Seconds; after a leak none. */
const overlaps = ["0", "3600", "86400", "604800"] as const;

interface Rotation {
  readonly overlap: string;
}

async function showRotation(deps: WebhooksDeps, visit: Visit): Promise<void> {
  requireId(visit);
  const signedIn = await requireRecentAuthentication(deps, visit);
  const webhook = await webhookPages.require(deps, visit);
  await showForm(deps, visit, signedIn, webhook, { input: { overlap: String(DEFAULT_OVERLAP_SECONDS) } });
}

const showForm = (
  deps: WebhooksDeps,
  visit: Visit,
  signedIn: SignedIn,
  webhook: Webhook,
  shown: FormShown<Rotation>,
) => showFormPage(deps, visit, signedIn, "webhooks", shown, (view) => rotationPage(view, webhook));

function rotationPage(view: FormView<Rotation>, webhook: Webhook): Html {
  const { secret: text } = view.messages.console.webhooks;
  const labels = { overlap: text.overlap };
  return formPage({
    ...view,
    breadcrumbs: webhookPages.crumbs(view, webhook),
    ...{ title: text.rotate, summary: text.rotateText, cardLabel: text.rotate, id: "rotation-form", labels },
    fields: radioField({
      ...fieldsOf(view, labels)("overlap"),
      hint: text.overlapHint,
      choices: overlaps.map((value) => ({
        value,
        label: value === "0" ? text.atOnce : text.hours({ count: Number(value) / 3_600 }),
      })),
    }),
    submit: { id: "secret-rotate-confirm", label: text.rotate },
    cancelUri: view.consoleUri(`/webhooks/${webhook.id}${SECRET}`),
  });
}

async function rotateFromForm(deps: WebhooksDeps, visit: Visit): Promise<void> {
  const id = requireId(visit);
  const form = await acceptOneTimeForm(deps, visit);
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn } = form;
  const input = { overlap: form.values.get("overlap") ?? "" };
  const webhook = await webhookPages.require(deps, visit);
  const rerender = (shown: Partial<FormShown<Rotation>>) =>
    showForm(deps, visit, signedIn, webhook, { input, ...shown });
  if (form.outcome === "rejected") return rerender(form.refusal);

  const { secret: text } = pageMessages(visit, signedIn).console.webhooks;
  const overlap = overlaps.find((one) => one === input.overlap);
  if (overlap === undefined) return rerender({ state: { faults: { overlap: text.fault } }, status: 400 });
  const wanted = { ...auditContext(visit, signedIn), id, overlapSeconds: Number(overlap) };
  const rotated = await applyOnce(deps, form, (inside) => rotateWebhookSecret(inside, wanted));
  if (rotated === "duplicate-submission") {
    const uri = webhookPages.path(visit.organisation, id, SECRET);
    return rerender(duplicateSubmission({ result: { label: text.title, uri }, secret: text.sentBefore }));
  }
  // Deleted meanwhile.
  if (!rotated) throw new NotFound("webhook");
  await showWebhookSecret(deps, visit, signedIn, rotated);
}

export async function showWebhookSecret(
  deps: WebhooksDeps,
  visit: Visit,
  signedIn: SignedIn,
  { webhook, secret }: { readonly webhook: Webhook; readonly secret: string },
): Promise<void> {
  const frame = await consoleFrame(deps, visit, signedIn, "webhooks");
  const { secret: text } = frame.messages.console.webhooks;
  const page = shownOncePage({
    ...frame,
    breadcrumbs: webhookPages.crumbs(frame, webhook),
    title: text.shownTitle({ name: hostOf(webhook) }),
    text: text.shownText,
    values: [
      {
        ...{ id: "webhook-secret", title: text.title, lines: secret },
        ...{ isSecret: true, variable: "WEBHOOK_SECRET" },
      },
    ],
    doneUri: webhookPages.path(visit.organisation, webhook.id),
  });
  await show(visit, frame, page);
}
