/** The email texts of a file: one for each template and language. */
import { isDeepStrictEqual } from "node:util";
import { type MailText, mailTextFields } from "../mail/mail-text.ts";
import type { StoredMailText } from "../mail/mail-texts.store.ts";
import {
  changeMailText,
  type EditableTemplate,
  isEditable,
  mailTextFaults,
  normalizeMailText,
} from "../mail/mail-texts.ts";
import type { RecordDeps } from "../record-changes.ts";
import type { FileEmail, FileFault, OrganisationFile } from "./organisation-file.ts";
import type { Step } from "./step.ts";

export interface EmailRecord {
  readonly template: EditableTemplate;
  readonly locale: string;
  readonly text: MailText;
}

export type EmailStep = Step<EmailRecord, EmailRecord>;

/** Nothing for a template of another version. */
export const emailOfState = ({ template, locale, text }: StoredMailText): FileEmail[] =>
  isEditable(template) ? [{ template, language: locale, ...text }] : [];

const recordOf = ({ template, language, ...text }: FileEmail): EmailRecord => ({
  template,
  locale: language,
  text: normalizeMailText(text),
});

const keyOf = ({ template, locale }: Pick<EmailRecord, "template" | "locale">): string =>
  `${template}/${locale}`;

export function emailFaults(emails: readonly FileEmail[], at: (index: number) => string): FileFault[] {
  const records = emails.map(recordOf);
  const keys = records.map(keyOf);
  return records.flatMap((record, index) => {
    const isEmpty = Object.keys(record.text).length === 0;
    return [
      ...mailTextFaults(record.template, record.text).map(({ field, message }) => ({
        path: `${at(index)}/${field}`,
        message,
      })),
      ...(isEmpty ? [{ path: at(index), message: "must have a subject, heading, body or button" }] : []),
      ...(keys.indexOf(keyOf(record)) < index
        ? [{ path: at(index), message: "has the template and language of another one" }]
        : []),
    ];
  });
}

/** @param prune whether texts that the file doesn't have are removed: the built-in ones stand again */
export function emailSteps(
  states: readonly StoredMailText[],
  { emails }: OrganisationFile,
  prune: boolean,
): EmailStep[] {
  const known = states.flatMap(emailOfState).map(recordOf);
  const wanted = (emails ?? []).map(recordOf);
  const others = known.filter((one) => !wanted.some((other) => keyOf(other) === keyOf(one)));
  const act = prune && emails !== undefined ? "remove" : "leave";
  return [
    ...wanted.map((record): EmailStep => {
      const current = known.find((one) => keyOf(one) === keyOf(record));
      const changes = mailTextFields.flatMap((member) => {
        const [before, after] = [current?.text[member], record.text[member]];
        if (before === after) return [];
        const had = before === undefined ? {} : { before };
        return [{ member, ...had, ...(after === undefined ? {} : { after }) }];
      });
      if (!current) return { act: "create", wanted: record, changes };
      return isDeepStrictEqual(current.text, record.text)
        ? { act: "same", current, wanted: record }
        : { act: "change", current, wanted: record, changes };
    }),
    ...others.map((current): EmailStep => ({ act, current })),
  ];
}

/** For people: `NewSignIn, de`. */
export const emailName = ({ template, locale }: EmailRecord): string => `${template}, ${locale}`;

export async function applyEmails(
  inside: RecordDeps & { readonly act: { orgId: string; actor: string; address?: string } },
  steps: readonly EmailStep[],
): Promise<void> {
  const { act } = inside;
  for (const step of steps) {
    if (step.act === "remove") await changeMailText(inside, { ...act, ...step.current, text: {} });
    if (step.act === "create" || step.act === "change")
      await changeMailText(inside, { ...act, ...step.wanted });
  }
}
