/** oauth/manage/{org}/mail-templates: every mail as its readers see it, and one to oneself. */
import type { FastifyInstance } from "fastify";
import { recordAuditEvent } from "../../../core/audit/audit.store.ts";
import {
  type ComposeMail,
  type MailContent,
  type MailTemplate,
  mailTemplates,
} from "../../../core/mail/mail.ts";
import type { Outbox } from "../../../core/mail/outbox.ts";
import { countAttempt, RateLimited, type RateLimits } from "../../../core/rate-limits/rate-limits.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import type { FormFailure } from "../../../html/components/record-form.ts";
import { render } from "../../../html/html.ts";
import { languageName } from "../../../html/messages/language-name.ts";
import { LOCALES, type Messages } from "../../../html/messages/messages.ts";
import { framesScript } from "../../../html/scripts.ts";
import { NotFound } from "../../../http/errors.ts";
import { queryOf } from "../../../http/form-body.ts";
import { sendPage, sendShownDocument } from "../../../http/page.ts";
import { consoleFrame } from "../../../page-kit/console-frame.ts";
import { making, newOnce, type Refusal } from "../../../page-kit/made-once.ts";
import type { Submission } from "../../../page-kit/sent-form.ts";
import {
  actingOn,
  administratorHere,
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  goTo,
  show,
  type Visit,
} from "../../../page-kit/visit.ts";
import { type MailSetup, mailTemplatePage, mailTemplatesPage } from "./mail-templates.page.ts";
import { sampleMail } from "./samples.ts";

export interface MailTemplatesDeps extends ConsoleDeps {
  readonly outbox: Outbox;
  readonly compose: ComposeMail;
  readonly mailSetup: MailSetup;
  readonly rateLimits: RateLimits;
}

export function mailTemplatesRoutes(app: FastifyInstance, deps: MailTemplatesDeps): void {
  consoleRoute(app, deps, "/mail-templates", { get: (visit) => showList(deps, visit) });
  consoleRoute(app, deps, "/mail-templates/:template", {
    get: (visit) => showTemplate(deps, visit),
    post: (visit) => sendTest(deps, visit),
  });
  consoleRoute(app, deps, "/mail-templates/:template/html", { get: (visit) => showHtml(deps, visit) });
}

async function showList(deps: MailTemplatesDeps, visit: Visit): Promise<void> {
  const path = consolePath(visit.organisation, "/mail-templates");
  const signedIn = await administratorHere(deps, visit, path);
  if (!signedIn) return;
  const frame = await consoleFrame(deps, visit, signedIn, "mailTemplates");
  const uris = mailTemplates.map((template) => [template, `${path}/${template}`]);
  const page = mailTemplatesPage({
    ...frame,
    setup: deps.mailSetup,
    uriOf: Object.fromEntries(uris) as Record<MailTemplate, string>,
  });
  await show(visit, frame, page);
}

/** @throws NotFound */
function templateOf({ request }: Visit): MailTemplate {
  const asked = (request.params as { template?: string }).template;
  const template = mailTemplates.find((one) => one === asked);
  if (!template) throw new NotFound("mail");
  return template;
}

/** Where a template is, for the address to come back to: nothing of a request stands in it that is no template's name. */
const pathOf = (visit: Visit): string => {
  const asked = (visit.request.params as { template?: string }).template;
  const template = mailTemplates.find((one) => one === asked);
  return consolePath(visit.organisation, template ? `/mail-templates/${template}` : "/mail-templates");
};

const localeOf = (asked: string | undefined, { locale }: Messages): string =>
  LOCALES.find((one) => one === asked) ?? locale;

/** @throws NotFound when the organisation was disabled meanwhile */
async function composed(
  { compose, baseUrl, clock }: MailTemplatesDeps,
  { organisation }: Visit,
  template: MailTemplate,
  locale: string,
): Promise<MailContent> {
  const now = clock();
  const orgId = organisation.id;
  const mail = sampleMail(template, { baseUrl, orgId, now });
  const content = await compose({ orgId, id: orgId, recipient: "", locale, mail, createdAt: now });
  if (!content) throw new NotFound("organisation");
  return content;
}

async function showTemplate(deps: MailTemplatesDeps, visit: Visit): Promise<void> {
  const signedIn = await administratorHere(deps, visit, pathOf(visit));
  if (!signedIn) return;
  const { values } = queryOf(visit.request);
  await template(deps, visit, signedIn, {
    language: values.get("language"),
    isSent: values.get("done") === "sent",
  });
}

async function template(
  deps: MailTemplatesDeps,
  visit: Visit,
  signedIn: SignedIn,
  shown: { language: string | undefined; isSent?: boolean; failure?: FormFailure; status?: number },
): Promise<void> {
  const { organisation, reply } = visit;
  const which = templateOf(visit);
  const frame = await consoleFrame(deps, visit, signedIn, "mailTemplates");
  const content = await composed(deps, visit, which, localeOf(shown.language, frame.messages));
  const path = pathOf(visit);
  const page = mailTemplatePage({
    ...frame,
    template: which,
    content,
    listUri: consolePath(organisation, "/mail-templates"),
    ownUri: path,
    htmlUri: `${path}/html?language=${content.locale}`,
    languages: LOCALES.map((locale) => ({ value: locale, label: languageName(locale) })),
    test: {
      action: path,
      csrf: deps.door.formBinding(visit).csrf,
      once: newOnce(deps),
      isPossible: deps.outbox.isOpen,
    },
    failure: shown.failure,
    isSent: shown.isSent ?? false,
    script: framesScript.path,
  });
  await sendPage(reply, render(page), { nonce: frame.nonce, status: shown.status ?? 200, hasFrame: true });
}

/** The mail as its HTML, for the frame of the page: it may run nothing, load nothing and lead nowhere. */
async function showHtml(deps: MailTemplatesDeps, visit: Visit): Promise<void> {
  const signedIn = await administratorHere(deps, visit, pathOf(visit));
  if (!signedIn) return;
  const { messages } = await consoleFrame(deps, visit, signedIn, "mailTemplates");
  const locale = localeOf(queryOf(visit.request).values.get("language"), messages);
  const { html } = await composed(deps, visit, templateOf(visit), locale);
  await sendShownDocument(visit.reply, html);
}

async function sendTest(deps: MailTemplatesDeps, visit: Visit): Promise<void> {
  const path = pathOf(visit);
  const again = ({ signedIn, values }: Submission, refusal: Refusal) =>
    template(deps, visit, signedIn, { language: values.get("language"), ...refusal });
  const sent = await making(deps, visit, path, again, () => ({}));
  if (!sent) return;
  const { signedIn, values } = sent;
  const which = templateOf(visit);
  const { messages } = await consoleFrame(deps, visit, signedIn, "mailTemplates");
  const { mailTemplates: text } = messages.console;
  const locale = localeOf(values.get("language"), messages);
  const refused = (title: string, reason: string, status: number) =>
    template(deps, visit, signedIn, {
      language: locale,
      failure: { kind: "refused", title, text: reason },
      status,
    });
  if (!deps.outbox.isOpen) return refused(text.notSent, text.notSetUp, 409);
  try {
    await limitTests(deps, visit, signedIn);
    const put = await sent.once((database) =>
      putTest({ ...deps, database }, visit, signedIn, { template: which, locale }),
    );
    if (!put) return;
  } catch (error) {
    if (!(error instanceof RateLimited)) throw error;
    visit.reply.header("retry-after", String(error.retryAfterSeconds));
    return refused(text.notSent, text.limited({ seconds: error.retryAfterSeconds }), 429);
  }
  await goTo(visit, `${path}?language=${locale}&done=sent`);
}

/** @throws RateLimited */
async function limitTests(deps: MailTemplatesDeps, visit: Visit, { user }: SignedIn): Promise<void> {
  const limit = deps.rateLimits["mail-test"];
  await countAttempt(deps, visit.organisation.id, [{ limit, subject: `${user.homeOrgId}:${user.id}` }]);
}

/** To whoever asks and to nobody else. */
async function putTest(
  deps: MailTemplatesDeps,
  visit: Visit,
  signedIn: SignedIn,
  { template, locale }: { template: MailTemplate; locale: string },
): Promise<true> {
  const acting = actingOn(visit, signedIn);
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
  return true;
}
