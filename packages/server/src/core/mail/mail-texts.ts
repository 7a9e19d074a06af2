/**
 * Texts of emails that an organisation writes itself, per template and language. What is left empty is the built-in text.
 * They go only to users who have proven to own their address, and name no way to reach anybody: the organisation can't
 * send its own words to strangers in our name (docs/decisions/2026-11-23-own-email-texts.md).
 */
import { hasContactDetails } from "@signet/protocol/contact-details";
import { recordAuditEvent } from "../audit/audit.store.ts";
import type { CoreDeps } from "../core-deps.ts";
import type { MailTemplate } from "./mail.ts";
import { type MailText, type MailTextField, mailTextFields } from "./mail-text.ts";
import { deleteMailText, type MailTextKey, saveMailText } from "./mail-texts.store.ts";

/** In characters (UTF-16). */
export const mailTextLimits: Readonly<Record<MailTextField, number>> = {
  subject: 120,
  heading: 120,
  body: 2_000,
  button: 40,
};

export const mailVariables = ["organisation", "expiry", "time", "factor"] as const;
export type MailVariable = (typeof mailVariables)[number];

interface EditableMail {
  readonly fields: readonly MailTextField[];
  readonly variables: readonly MailVariable[];
  /** What an own body must say. */
  readonly required: readonly MailVariable[];
}

const notice: EditableMail = { fields: mailTextFields, variables: ["organisation", "time"], required: [] };
const factorNotice: EditableMail = {
  fields: mailTextFields,
  variables: ["organisation", "factor", "time"],
  required: ["factor"],
};

/**
 * Not those that reach people who may know nothing of the organisation: invitations, and links that prove an address that
 * somebody has typed. Nor what tells administrators how to check who asks for a reset.
 */
export const editableMails = {
  ResetPassword: { fields: mailTextFields, variables: ["organisation", "expiry"], required: [] },
  MagicLink: { fields: mailTextFields, variables: ["organisation", "expiry"], required: [] },
  ApprovalRequested: { fields: mailTextFields, variables: ["organisation", "expiry"], required: [] },
  PasswordChanged: notice,
  EmailChanged: notice,
  AccountExists: notice,
  NewSignIn: notice,
  FactorAdded: factorNotice,
  FactorRemoved: factorNotice,
  IdentityLinked: notice,
  // Without a button: the account is gone.
  AccountDeleted: { ...notice, fields: ["subject", "heading", "body"] },
} as const satisfies Partial<Record<MailTemplate, EditableMail>>;

export type EditableTemplate = keyof typeof editableMails;
export const editableTemplates = Object.keys(editableMails) as EditableTemplate[];

export const isEditable = (template: string): template is EditableTemplate =>
  Object.hasOwn(editableMails, template);

export const mailRules = (template: EditableTemplate): EditableMail => editableMails[template];

export type MailTextFaultCode =
  | "length"
  | "characters"
  | "contact"
  | "variables"
  | "missing-variable"
  | "no-button";

export interface MailTextFault {
  readonly field: MailTextField;
  readonly code: MailTextFaultCode;
  readonly message: string;
}

export class InvalidMailText extends Error {
  readonly faults: readonly MailTextFault[];
  constructor(faults: readonly MailTextFault[]) {
    super(faults.map(({ field, message }) => `${field}: ${message}`).join("; "));
    this.name = "InvalidMailText";
    this.faults = faults;
  }
}

/** Without spaces around it, and without fields that are empty then. Line breaks are `\n`. */
export const normalizeMailText = (text: MailText): MailText =>
  Object.fromEntries(
    mailTextFields.flatMap((field) => {
      const value = (text[field] ?? "").replaceAll(/\r\n?/g, "\n").trim();
      return value === "" ? [] : [[field, value]];
    }),
  );

/** @param text normalized. @returns at most one fault of each field */
export function mailTextFaults(template: EditableTemplate, text: MailText): MailTextFault[] {
  const rules = mailRules(template);
  return mailTextFields.flatMap((field): MailTextFault[] => {
    const value = text[field];
    const code = value === undefined ? undefined : fieldFault(rules, field, value);
    return code === undefined ? [] : [{ field, code, message: faultMessage(code, rules, field) }];
  });
}

function fieldFault(rules: EditableMail, field: MailTextField, value: string): MailTextFaultCode | undefined {
  if (!rules.fields.includes(field)) return "no-button";
  if (value.length > mailTextLimits[field]) return "length";
  // A line break in a subject would begin another header (RFC 5322 §2.2); bidirectional ones reorder what is read.
  const plain = field === "body" ? value.replaceAll("\n", "") : value;
  if (/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\u2028\u2029]/u.test(plain)) return "characters";
  const used = [...value.matchAll(VARIABLE)].map(([, name]) => name ?? "");
  const rest = value.replaceAll(VARIABLE, "");
  if (/[{}]/.test(rest) || !used.every((name) => rules.variables.some((known) => known === name)))
    return "variables";
  if (hasContactDetails(rest.normalize("NFKC"))) return "contact";
  const isComplete = field !== "body" || rules.required.every((name) => used.includes(name));
  return isComplete ? undefined : "missing-variable";
}

const VARIABLE = /\{([a-z]+)\}/g;

function faultMessage(code: MailTextFaultCode, rules: EditableMail, field: MailTextField): string {
  const listed = (names: readonly MailVariable[]) => names.map((name) => `{${name}}`).join(", ");
  switch (code) {
    case "length":
      return `must have at most ${mailTextLimits[field]} characters`;
    case "characters":
      return "must not contain control or direction characters";
    case "contact":
      return "must not contain web addresses, email addresses or telephone numbers";
    case "variables":
      return `may use only ${listed(rules.variables)}`;
    case "missing-variable":
      return `must contain ${listed(rules.required)}`;
    case "no-button":
      return "this email has no button";
  }
}

/** One pass: a value that looks like a variable stays what it is. */
export const fillVariables = (text: string, values: Readonly<Partial<Record<string, string>>>): string =>
  text.replaceAll(VARIABLE, (whole, name: string) =>
    Object.hasOwn(values, name) ? (values[name] ?? "") : whole,
  );

export interface MailTextChange extends MailTextKey {
  readonly template: EditableTemplate;
  /** Empty to have the built-in text again. */
  readonly text: MailText;
  readonly actor: string;
  readonly address?: string;
}

/** What audit events name the text of one template in one language. */
export const mailTextId = ({ template, locale }: Pick<MailTextKey, "template" | "locale">): string =>
  `${template}.${locale}`;

/** @throws InvalidMailText naming every fault */
export async function changeMailText(
  { database, clock }: CoreDeps,
  { orgId, template, locale, text: given, actor, address }: MailTextChange,
): Promise<void> {
  const text = normalizeMailText(given);
  const faults = mailTextFaults(template, text);
  if (faults.length > 0) throw new InvalidMailText(faults);
  const key = { orgId, template, locale };
  const fields = Object.keys(text);
  const at = clock();
  await database.transaction(async (tx) => {
    if (fields.length > 0) await saveMailText(tx, { ...key, text, updatedAt: at });
    else if (!(await deleteMailText(tx, key))) return;
    await recordAuditEvent(tx, {
      ...{ orgId, at, actor, address },
      action: "mail-text.changed",
      target: mailTextId(key),
      details: { template, language: locale, fields },
    });
  });
}
