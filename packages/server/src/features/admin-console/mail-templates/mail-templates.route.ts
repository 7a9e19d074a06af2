/** /oauth/manage/{org}/mail-templates: every email with its text, a live preview, and a test to oneself. */
import type { FastifyInstance } from "fastify";
import { recordAuditEvent } from "../../../core/audit/audit.store.ts";
import { type MailContent, mailTemplates } from "../../../core/mail/mail.ts";
import { listMailTexts } from "../../../core/mail/mail-texts.store.ts";
import {
  countAttempt,
  RateLimited,
  type RateLimits,
  rateLimitHeaders,
} from "../../../core/rate-limits/rate-limits.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import type { FormShown } from "../../../html/components/form-state.ts";
import { html, render } from "../../../html/html.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { sendEmbeddedDocument } from "../../../http/page.ts";
import {
  acceptOneTimeForm,
  applyOnce,
  checkForm,
  duplicateSubmission,
  requireSameOrigin,
} from "../../../page-kit/accept-form.ts";
import { pageMessages, readingRoute } from "../../../page-kit/console-frame.ts";
import { rerenderEditForm, showEditForm, submitEditForm } from "../../../page-kit/edit-form.ts";
import {
  auditContext,
  consoleRoute,
  queryString,
  redirectTo,
  requireAdministrator,
  SeeOther,
  type Visit,
} from "../../../page-kit/page.ts";
import { askForIdentity } from "../../../page-kit/reauthentication.ts";
import type { MailTextInput } from "./mail-template.page.ts";
import { type MailSetup, mailTemplatesPage } from "./mail-templates.page.ts";
import {
  composeSample,
  draftOf,
  languageOf,
  loadMailText,
  type MailTextDeps,
  type MailTextRecord,
  mailTextForm,
  requireTemplate,
  templatePath,
} from "./mail-text-form.ts";
import { sampleMail } from "./samples.ts";

export interface MailTemplatesDeps extends MailTextDeps {
  readonly mailSetup: MailSetup;
  readonly rateLimits: RateLimits;
}

export function mailTemplatesRoutes(app: FastifyInstance, deps: MailTemplatesDeps): void {
  const form = mailTextForm(deps);
  readingRoute(app, deps, "/oauth/manage/:org/mail-templates", "mailTemplates", async (_, visit, frame) => {
    redirectToChosen(visit);
    const texts = await listMailTexts(deps.database.query, visit.organisation.id);
    const written = Map.groupBy(texts, ({ template }) => template);
    const languages = [...written].map(
      ([template, own]) => [template, own.map(({ locale }) => locale)] as const,
    );
    return mailTemplatesPage({ ...frame, setup: deps.mailSetup, written: new Map(languages) });
  });
  consoleRoute(app, deps, "/oauth/manage/:org/mail-templates/:template", {
    get: (_, visit) => showEditForm(deps, visit, form),
    post: sendTest,
  });
  consoleRoute(app, deps, "/oauth/manage/:org/mail-templates/:template/text", {
    get: (_, visit) => showEditForm(deps, visit, form),
    post: (_, visit) => submitEditForm(deps, visit, form),
  });
  consoleRoute(app, deps, "/oauth/manage/:org/mail-templates/:template/html", {
    get: showPreview,
    post: previewDraft,
  });
}

/** A template's page has a form that leads to another one. @throws SeeOther */
function redirectToChosen(visit: Visit): void {
  const { values } = parseQuery(visit.request);
  const chosen = mailTemplates.find((one) => one === values.get("mail"));
  if (chosen) throw new SeeOther(templatePath(visit, chosen) + queryString({ language: languageOf(visit) }));
}

/** The email as HTML or text, for the page's frame: it can run nothing, load nothing and navigate nowhere. */
async function showPreview(deps: MailTemplatesDeps, visit: Visit): Promise<void> {
  await requireAdministrator(deps, visit, templatePath(visit, requireTemplate(visit)));
  const record = await loadMailText(deps, visit);
  await sendContent(visit, await composeSample(deps, record));
}

/** What is typed and not saved. Nothing is stored, so that an older sign-in will do. */
async function previewDraft(deps: MailTemplatesDeps, visit: Visit): Promise<void> {
  requireSameOrigin(deps, visit);
  const signedIn = await requireAdministrator(deps, visit, templatePath(visit, requireTemplate(visit)));
  const form = await checkForm(deps, visit, signedIn);
  const record = await loadMailText(deps, visit);
  const isDraft = form.outcome === "accepted";
  const content = await composeSample(deps, record, isDraft ? draftOf(form.values, record) : undefined);
  if (form.outcome === "rejected") visit.reply.code(form.refusal.status);
  await sendContent(visit, content);
}

const sendContent = ({ request, reply }: Visit, content: MailContent): Promise<void> =>
  sendEmbeddedDocument(
    reply,
    parseQuery(request).values.get("part") === "text" ? plainDocument(content) : content.html,
  );

const plainDocument = ({
  subject,
  text,
  locale,
}: {
  subject: string;
  text: string;
  locale: string;
}): string =>
  render(html`<!doctype html>
<html lang="${locale}"><head><meta charset="utf-8"><title>${subject}</title><meta name="viewport" content="width=device-width, initial-scale=1"></head>
<body style="margin:0;padding:16px;font:14px/1.5 ui-monospace,monospace"><p style="margin:0 0 16px;font-weight:600">${subject}</p><pre style="margin:0;white-space:pre-wrap;overflow-wrap:anywhere">${text}</pre></body></html>`);

async function sendTest(deps: MailTemplatesDeps, visit: Visit): Promise<void> {
  requireTemplate(visit);
  const sent = await acceptOneTimeForm(deps, visit);
  if (sent.outcome === "reauthenticate") return askForIdentity(deps, visit, sent);
  const { signedIn } = sent;
  const { mailTemplates: text } = pageMessages(visit, signedIn).console;
  const rerender = (shown: Partial<FormShown<MailTextInput>>) =>
    rerenderEditForm(deps, visit, mailTextForm(deps), signedIn, shown);
  if (sent.outcome === "rejected") return rerender(sent.refusal);

  const refuse = (reason: string, status: number) =>
    rerender({ failure: { kind: "refused", title: text.notSent, text: reason }, status });
  if (!deps.outbox.isOpen) return refuse(text.notSetUp, 409);
  const record = await loadMailText(deps, visit);
  try {
    const { user } = signedIn;
    const attempt = { limit: deps.rateLimits["mail-test"], subject: `${user.homeOrgId}:${user.id}` };
    await countAttempt(deps, visit.organisation.id, [attempt]);
    const done = await applyOnce(deps, sent, (inside) => enqueueTest(inside, visit, signedIn, record));
    if (done === "duplicate-submission") return rerender(duplicateSubmission());
  } catch (error) {
    if (!(error instanceof RateLimited)) throw error;
    visit.reply.headers({ ...rateLimitHeaders(error), "retry-after": String(error.retryAfterSeconds) });
    return refuse(text.limited({ seconds: error.retryAfterSeconds }), 429);
  }
  await redirectTo(visit, `${templatePath(visit, record.template)}?language=${record.locale}&done=sent`);
}

/** Addressed to the administrator who asks, and to nobody else. */
async function enqueueTest(
  deps: MailTemplatesDeps,
  visit: Visit,
  signedIn: SignedIn,
  { template, locale }: MailTextRecord,
): Promise<void> {
  const acting = auditContext(visit, signedIn);
  const { orgId } = acting;
  const { user } = signedIn;
  const now = deps.clock();
  const mail = sampleMail(template, { baseUrl: deps.baseUrl, orgId, now, isTest: true });
  await deps.database.transaction(async (tx) => {
    await deps.outbox.put(tx, { orgId, recipient: user.email, locale, mail });
    await recordAuditEvent(tx, {
      ...acting,
      at: now,
      action: "mail.test-sent",
      target: user.id,
      details: { template },
    });
  });
}
