/** An organisation's own text in an email: it replaces what the built-in text says, and nothing that protects the reader. */
import type { Messages } from "../messages/messages.ts";
import type { MailBody } from "./mail-body.ts";
import { type MailView, mailBody } from "./mails.ts";

export type OwnText = { subject?: string; heading?: string; body?: string; button?: string };

/** Puts values into a text with `{variables}`: core/mail/mail-texts.ts. */
type Fill = (text: string, values: Record<string, string>) => string;

/**
 * What always stands: name and host at the top, the facts, the button's address, when it expires, what to do if it wasn't you,
 * and the footer.
 */
export function withOwnText(
  view: MailView,
  body: MailBody,
  own: OwnText,
  { messages, fill }: { messages: Messages; fill: Fill },
): MailBody {
  const values = variablesOf(view, messages);
  const filled = (text: string | undefined) => (text === undefined ? undefined : fill(text, values));
  const [, ...advice] = body.paragraphs;
  const written = filled(own.body)?.split(/\n+/);
  return {
    ...body,
    subject: filled(own.subject) ?? body.subject,
    heading: filled(own.heading),
    paragraphs: written ? [...written, ...advice] : body.paragraphs,
    action: body.action && { ...body.action, label: filled(own.button) ?? body.action.label },
  };
}

function variablesOf({ data, organisation }: MailView, { format, mails }: Messages): Record<string, string> {
  return {
    organisation: organisation.name,
    ...("expiresAt" in data ? { expiry: format.minute(data.expiresAt) } : {}),
    ...("at" in data ? { time: format.minute(data.at) } : {}),
    ...("factor" in data ? { factor: mails.factorNames[data.factor] } : {}),
  };
}

/**
 * The built-in text as an organisation would write it, to begin with. Where it differs by second factor, there is none: a
 * sentence with a variable can't decline.
 */
export function builtInText(view: MailView, messages: Messages): OwnText {
  const organisation = { ...view.organisation, name: "{organisation}" };
  const { subject, paragraphs, action } = mailBody({ ...view, organisation }, messages);
  const button = action && { button: action.label };
  if (view.template === "FactorAdded" || view.template === "FactorRemoved") return { ...button };
  const [body = ""] = paragraphs;
  return { subject, body, ...button };
}
