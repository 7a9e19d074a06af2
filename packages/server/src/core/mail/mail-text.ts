/** An email's text as an organisation may write it: plain text with `{variables}`. */

export const mailTextFields = ["subject", "heading", "body", "button"] as const;
export type MailTextField = (typeof mailTextFields)[number];

/** Without a field, the built-in text. */
export type MailText = Readonly<Partial<Record<MailTextField, string>>>;
