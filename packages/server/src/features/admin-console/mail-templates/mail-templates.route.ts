/** /oauth/manage/{org}/mail-templates: a preview of every mail, and a test mail to oneself. */
import type { FastifyInstance } from "fastify";
import { recordAuditEvent } from "../../../core/audit/audit.store.ts";
import {
  type ComposeMail,
  type MailContent,
  type MailTemplate,
  mailTemplates,
} from "../../../core/mail/mail.ts";
import type { Outbox } from "../../../core/mail/outbox.ts";
import {
  countAttempt,
  RateLimited,
  type RateLimits,
  rateLimitHeaders,
} from "../../../core/rate-limits/rate-limits.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import type { FormShown } from "../../../html/components/form-state.ts";
import { render } from "../../../html/html.ts";
import { LOCALES, type Messages } from "../../../html/messages/messages.ts";
import { NotFound } from "../../../http/errors.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { sendEmbeddedDocument, sendPage } from "../../../http/page.ts";
import { acceptOneTimeForm, applyOnce, duplicateSubmission } from "../../../page-kit/accept-form.ts";
import { pageMessages, readingRoute } from "../../../page-kit/console-frame.ts";
import { formView } from "../../../page-kit/form-view.ts";
import {
  auditContext,
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  pathParams,
  redirectTo,
  requireAdministrator,
  type Visit,
} from "../../../page-kit/page.ts";
import { askForIdentity } from "../../../page-kit/reauthentication.ts";
import { type MailSetup, mailTemplatePage, mailTemplatesPage } from "./mail-templates.page.ts";
import { sampleMail } from "./samples.ts";

export interface MailTemplatesDeps extends ConsoleDeps {
  readonly outbox: Outbox;
  readonly compose: ComposeMail;
  readonly mailSetup: MailSetup;
  readonly rateLimits: RateLimits;
}

export function mailTemplatesRoutes(app: FastifyInstance, deps: MailTemplatesDeps): void {
  readingRoute(app, deps, "/oauth/manage/:org/mail-templates", "mailTemplates", (_, __, frame) =>
    mailTemplatesPage({ ...frame, setup: deps.mailSetup }),
  );
  consoleRoute(app, deps, "/oauth/manage/:org/mail-templates/:template", {
    get: showTemplate,
    post: sendTest,
  });
  consoleRoute(app, deps, "/oauth/manage/:org/mail-templates/:template/html", { get: sendHtml });
}

/** The template in the address. @throws NotFound */
function requireTemplate(visit: Visit): MailTemplate {
  const template = mailTemplates.find((one) => one === pathParams(visit)["template"]);
  if (!template) throw new NotFound("mail");
  return template;
}

const templatePath = ({ organisation }: Visit, template: MailTemplate): string =>
  consolePath(organisation, `/mail-templates/${template}`);

const readLocale = (values: ReadonlyMap<string, string>, { locale }: Messages): string =>
  LOCALES.find((one) => one === values.get("language")) ?? locale;

/** @throws NotFound when the organisation has been disabled meanwhile */
async function composeSample(
  { compose, baseUrl, clock }: MailTemplatesDeps,
  { organisation }: Visit,
  template: MailTemplate,
  locale: string,
): Promise<MailContent> {
  const now = clock();
  const { id: orgId } = organisation;
  const mail = sampleMail(template, { baseUrl, orgId, now });
  const content = await compose({ orgId, id: orgId, recipient: "", locale, mail, createdAt: now });
  if (!content) throw new NotFound("organisation");
  return content;
}

async function showTemplate(deps: MailTemplatesDeps, visit: Visit): Promise<void> {
  const template = requireTemplate(visit);
  const signedIn = await requireAdministrator(deps, visit);
  const { values } = parseQuery(visit.request);
  const input = readLocale(values, pageMessages(visit, signedIn));
  await showPreview(deps, visit, signedIn, template, { input, isSent: values.get("done") === "sent" });
}

/** @param shown.input the language */
async function showPreview(
  deps: MailTemplatesDeps,
  visit: Visit,
  signedIn: SignedIn,
  template: MailTemplate,
  { isSent = false, status = 200, ...shown }: FormShown<string> & { readonly isSent?: boolean },
): Promise<void> {
  const view = await formView(deps, visit, signedIn, "mailTemplates", shown);
  const content = await composeSample(deps, visit, template, shown.input);
  const page = mailTemplatePage({ ...view, template, content, isPossible: deps.outbox.isOpen, isSent });
  await sendPage(visit.reply, render(page), { nonce: view.nonce, status, hasFrame: true, hasFont: true });
}

/** The mail as HTML, for the page's frame: it can run nothing, load nothing and navigate nowhere. */
async function sendHtml(deps: MailTemplatesDeps, visit: Visit): Promise<void> {
  const template = requireTemplate(visit);
  const signedIn = await requireAdministrator(deps, visit, templatePath(visit, template));
  const locale = readLocale(parseQuery(visit.request).values, pageMessages(visit, signedIn));
  const { html } = await composeSample(deps, visit, template, locale);
  await sendEmbeddedDocument(visit.reply, html);
}

async function sendTest(deps: MailTemplatesDeps, visit: Visit): Promise<void> {
  const template = requireTemplate(visit);
  const form = await acceptOneTimeForm(deps, visit);
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn } = form;
  const messages = pageMessages(visit, signedIn);
  const { mailTemplates: text } = messages.console;
  const locale = readLocale(form.values, messages);
  const rerender = (shown: Partial<FormShown<string>>) =>
    showPreview(deps, visit, signedIn, template, { input: locale, ...shown });
  if (form.outcome === "rejected") return rerender(form.refusal);

  const refuse = (reason: string, status: number) =>
    rerender({ failure: { kind: "refused", title: text.notSent, text: reason }, status });
  if (!deps.outbox.isOpen) return refuse(text.notSetUp, 409);
  try {
    const { user } = signedIn;
    const attempt = { limit: deps.rateLimits["mail-test"], subject: `${user.homeOrgId}:${user.id}` };
    await countAttempt(deps, visit.organisation.id, [attempt]);
    const sent = await applyOnce(deps, form, (inside) =>
      enqueueTest(inside, visit, signedIn, { template, locale }),
    );
    if (sent === "duplicate-submission") return rerender(duplicateSubmission());
  } catch (error) {
    if (!(error instanceof RateLimited)) throw error;
    visit.reply.headers({ ...rateLimitHeaders(error), "retry-after": String(error.retryAfterSeconds) });
    return refuse(text.limited({ seconds: error.retryAfterSeconds }), 429);
  }
  await redirectTo(visit, `${templatePath(visit, template)}?language=${locale}&done=sent`);
}

/** Addressed to the administrator who asks, and to nobody else. */
async function enqueueTest(
  deps: MailTemplatesDeps,
  visit: Visit,
  signedIn: SignedIn,
  { template, locale }: { template: MailTemplate; locale: string },
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
