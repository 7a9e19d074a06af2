/** The parts of an email, and how they render as plain text and HTML. */
import { accentShades, DEFAULT_ACCENT, isAccentColour } from "../accent.ts";
import { type Html, html, linkAddress } from "../html.ts";
import type { Messages } from "../messages/messages.ts";

export type MailBody = {
  subject: string;
  /** Where it differs from the subject. */
  heading?: string | undefined;
  /** The name as in a sentence, see `displayed-name.ts`: its organisation could have written a message. */
  organisation: { name: string; accentColor?: string | undefined };
  /** The host of this service. */
  service: string;
  paragraphs: readonly string[];
  facts: readonly { name: string; value: string }[];
  action?: { label: string; uri: string } | undefined;
  closing: readonly string[];
};

const letterhead = ({ organisation, service }: MailBody): string => `${organisation.name} · ${service}`;

export function mailText(body: MailBody, messages: Messages): string {
  const blocks = [
    letterhead(body),
    body.heading ?? "",
    ...body.paragraphs,
    body.facts.map(({ name, value }) => messages.mails.fact({ name, value })).join("\n"),
    body.action ? messages.mails.fact({ name: body.action.label, value: `\n${body.action.uri}` }) : "",
    ...body.closing,
    `-- \n${messages.mails.footer({ organisation: body.organisation.name })}`,
  ];
  return `${blocks.filter((block) => block !== "").join("\n\n")}\n`;
}

/** Quieter in whatever colour the mail client writes: 7.8:1 of black on white. */
const QUIET = "opacity:0.68";

/**
 * HTML without external resources or tracking: no image, style sheet or script, and a single link without tracking
 * parameters. Colours are left to the mail client, for light and dark mode.
 */
export function mailHtml(body: MailBody, messages: Messages): Html {
  const { accentColor, name } = body.organisation;
  const { fill, onFill } = accentShades(isAccentColour(accentColor) ? accentColor : DEFAULT_ACCENT).light;
  const button = `display:inline-block;padding:12px 20px;border:1px solid #868c9880;border-radius:8px;background:${fill};color:${onFill};font-weight:600;text-decoration:none`;
  return html`<!doctype html>
<html lang="${messages.locale}">
<head>
<meta charset="utf-8">
<title>${body.subject}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
</head>
<body style="margin:0;padding:24px 16px;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif">
<div role="main" style="max-width:32rem;margin:0 auto">
<p style="margin:0 0 24px;font-size:14px;font-weight:600">${letterhead(body)}</p>
<h1 style="margin:0 0 16px;font-size:22px;line-height:1.3;letter-spacing:-0.01em">${body.heading ?? body.subject}</h1>
${body.paragraphs.map((text) => html`<p style="margin:0 0 16px">${text}</p>\n`)}
${body.facts.length > 0 && html`<dl style="margin:0 0 24px;padding:12px 16px 4px;border:1px solid #868c9880;border-radius:8px;font-size:14px">${body.facts.map(({ name, value }) => html`<dt style="${QUIET}">${name}</dt><dd style="margin:0 0 8px">${value}</dd>`)}</dl>`}
${body.action && html`<p style="margin:24px 0"><a href="${linkAddress(body.action.uri)}" style="${button}">${body.action.label}</a></p>`}
${body.closing.map((text) => html`<p style="margin:0 0 16px">${text}</p>\n`)}
${body.action && html`<p style="margin:24px 0 0;font-size:13px;${QUIET}">${messages.mails.copyLink}<br><a href="${linkAddress(body.action.uri)}" style="color:inherit;word-break:break-all">${body.action.uri}</a></p>`}
<hr style="margin:24px 0 16px;border:0;border-top:1px solid #868c9880">
<p style="margin:0;font-size:13px;${QUIET}">${messages.mails.footer({ organisation: name })}</p>
</div>
</body>
</html>
`;
}
