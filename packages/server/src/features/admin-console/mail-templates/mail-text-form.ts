/** The text of one email in one language, as its form loads, checks and saves it. */
import type { FastifyRequest } from "fastify";
import {
  type ComposeMail,
  type MailContent,
  type MailTemplate,
  mailTemplates,
} from "../../../core/mail/mail.ts";
import { type MailText, type MailTextField, mailTextFields } from "../../../core/mail/mail-text.ts";
import { findMailText } from "../../../core/mail/mail-texts.store.ts";
import {
  changeMailText,
  InvalidMailText,
  isEditable,
  type MailTextFault,
  mailRules,
  mailTextFaults,
  mailTextId,
  mailTextLimits,
  normalizeMailText,
} from "../../../core/mail/mail-texts.ts";
import type { Outbox } from "../../../core/mail/outbox.ts";
import { lockOrganisation } from "../../../core/organisations/organisations.store.ts";
import { builtInText } from "../../../html/mails/own-text.ts";
import { LOCALES, type Messages, messages } from "../../../html/messages/messages.ts";
import { NotFound } from "../../../http/errors.ts";
import { parsedForm, parseQuery } from "../../../http/form-body.ts";
import { newSubmissionToken, type SentForm } from "../../../page-kit/accept-form.ts";
import { doneKey } from "../../../page-kit/console-frame.ts";
import type { EditForm } from "../../../page-kit/edit-form.ts";
import { type ConsoleDeps, consolePath, pathParams, type Visit } from "../../../page-kit/page.ts";
import { type MailTextInput, mailTemplatePage } from "./mail-template.page.ts";
import { sampleMail } from "./samples.ts";

export interface MailTextDeps extends ConsoleDeps {
  readonly compose: ComposeMail;
  readonly outbox: Outbox;
}

export interface MailTextRecord {
  /** What audit events name it. */
  readonly id: string;
  readonly orgId: string;
  readonly template: MailTemplate;
  readonly locale: string;
  /** The organisation's own; undefined while all of it is built in. */
  readonly own: MailText | undefined;
  readonly builtIn: MailText;
}

/** The template in the address. @throws NotFound */
export function requireTemplate(visit: Visit): MailTemplate {
  const template = mailTemplates.find((one) => one === pathParams(visit)["template"]);
  if (!template) throw new NotFound("mail");
  return template;
}

export const templatePath = ({ organisation }: Visit, template: MailTemplate): string =>
  consolePath(organisation, `/mail-templates/${template}`);

/** As the form or the address says; otherwise the organisation's. */
export function languageOf({ request, organisation }: Visit): string {
  const wanted = valuesOf(request).get("language");
  const { defaultLocale } = organisation.settings;
  return LOCALES.find((one) => one === wanted) ?? LOCALES.find((one) => one === defaultLocale) ?? "en";
}

const valuesOf = (request: FastifyRequest): ReadonlyMap<string, string> =>
  (request.method === "POST" ? parsedForm(request) : parseQuery(request)).values;

export async function loadMailText(
  { database }: Pick<ConsoleDeps, "database">,
  visit: Visit,
): Promise<MailTextRecord> {
  const template = requireTemplate(visit);
  const key = { orgId: visit.organisation.id, template, locale: languageOf(visit) };
  const stored = isEditable(template) ? await findMailText(database.query, key) : undefined;
  const sample = sampleMail(template, { baseUrl: "https://signet.invalid", orgId: key.orgId, now: 0 });
  const organisation = { name: "" };
  const view = { ...sample, organisation, service: "", recoveryUri: "" };
  const builtIn = builtInText(view, messages([key.locale]));
  return { ...key, id: mailTextId(key), own: stored?.text, builtIn };
}

const toInput = ({ own = {}, builtIn }: Pick<MailTextRecord, "own" | "builtIn">): MailTextInput => {
  const text = { ...builtIn, ...own };
  return Object.fromEntries(mailTextFields.map((field) => [field, text[field] ?? ""])) as MailTextInput;
};

/** Bounded: what is too long is shown again and refused. */
const readText = (values: ReadonlyMap<string, string>): MailTextInput =>
  Object.fromEntries(
    mailTextFields.map((field) => [field, (values.get(field) ?? "").slice(0, 2 * mailTextLimits[field])]),
  ) as MailTextInput;

/** What equals the built-in text isn't the organisation's own: a later version may word it better. */
function ownPart(input: MailTextInput, builtIn: MailText): MailText {
  const text = normalizeMailText(input);
  const isOwn = ([field, value]: [string, string]) => value !== builtIn[field as MailTextField];
  return Object.fromEntries(Object.entries(text).filter(isOwn));
}

/** What is typed, before it is saved: shown as it is, whatever is wrong with it. */
export const draftOf = (values: ReadonlyMap<string, string>, { builtIn }: MailTextRecord): MailText =>
  ownPart(readText(values), builtIn);

/** @param draft in place of the stored text. @throws NotFound when the organisation has been disabled meanwhile */
export async function composeSample(
  { compose, baseUrl, clock }: Pick<MailTextDeps, "compose" | "baseUrl" | "clock">,
  { orgId, template, locale }: Pick<MailTextRecord, "orgId" | "template" | "locale">,
  draft?: MailText,
): Promise<MailContent> {
  const now = clock();
  const mail = sampleMail(template, { baseUrl, orgId, now });
  const content = await compose({ orgId, id: orgId, recipient: "", locale, mail, createdAt: now }, draft);
  if (!content) throw new NotFound("organisation");
  return content;
}

export const mailTextForm = (
  deps: MailTextDeps,
): EditForm<MailTextDeps, MailTextRecord, MailTextInput, MailText> => ({
  current: "mailTemplates",
  readOnlyAllowed: true,
  isRepeatable: true,
  hasFrame: true,
  load: loadMailText,
  lock: (tx, { orgId }) => lockOrganisation(tx, orgId),
  version: ({ own }) => own ?? {},
  toInput,
  readInput: ({ values }: SentForm, { record }) =>
    values.has("reset") ? toInput({ own: {}, builtIn: record.builtIn }) : readText(values),
  toDisplay: (input) => input,
  recordFields: ({ locale }) => [{ name: "language", value: locale }],
  page: async (view, { visit, record }) =>
    mailTemplatePage({
      ...view,
      ...record,
      content: await composeSample(deps, record),
      isOwn: record.own !== undefined,
      isPossible: deps.outbox.isOpen,
      testToken: newSubmissionToken(deps),
      done: view.failure ? undefined : doneKey(visit, view.messages.console.mailTemplates.done),
    }),
  validate: (input, { record, messages: words }) => {
    const { template, builtIn } = record;
    if (!isEditable(template)) throw new NotFound("mail");
    const content = ownPart(input, builtIn);
    const faults = mailTextFaults(template, content);
    return faults.length === 0 ? { content } : { faults: faultTexts(record, faults, words) };
  },
  save: async (inside, text, { visit, acting, record }) => {
    const { template, locale } = record;
    if (!isEditable(template)) throw new NotFound("mail");
    await changeMailText(inside, { ...acting, template, locale, text });
    const done = Object.keys(text).length === 0 ? "reset" : "saved";
    return `${templatePath(visit, template)}?language=${locale}&done=${done}`;
  },
  explain: (error, { record, messages: words }) =>
    error instanceof InvalidMailText ? { faults: faultTexts(record, error.faults, words) } : undefined,
});

function faultTexts(
  { template }: MailTextRecord,
  faults: readonly MailTextFault[],
  words: Messages,
): Record<string, string> {
  const { faults: text } = words.console.mailTemplates;
  const rules = isEditable(template) ? mailRules(template) : undefined;
  const listed = (names: readonly string[] = []) => names.map((name) => `{${name}}`).join(", ");
  const textOf = ({ field, code }: MailTextFault): string => {
    switch (code) {
      case "length":
        return text.length({ max: mailTextLimits[field] });
      case "variables":
        return text.variables({ names: listed(rules?.variables) });
      case "missing-variable":
        return text.missingVariable({ names: listed(rules?.required) });
      case "characters":
      case "no-button":
        return text.characters;
      case "contact":
        return text.contact;
    }
  };
  return Object.fromEntries(faults.map((fault) => [fault.field, textOf(fault)]));
}
