/** SMTP (RFC 5321), with one connection per email: emails are rare, and no connection goes stale. */
import { isMailable, type MailSender, type SmtpSettings } from "./smtp-settings.ts";
import { type DeliverableMail, MailFailure, type MailTransport } from "./transport.ts";

const CONNECT_MS = 10_000;
const SOCKET_TIMEOUT_MS = 20_000;
/** In total: a slow server must not hold an email longer than it is claimed for. */
const MAX_SEND_MS = 60_000;

/** @param baseUrl its host is the right side of message ids */
export function smtpTransport(settings: SmtpSettings, sender: MailSender, baseUrl: string): MailTransport {
  let opened: ReturnType<typeof openTransport> | undefined;
  const closing = new AbortController();
  const host = new URL(baseUrl).hostname;
  return {
    kind: "smtp",
    send: async (mail) => {
      if (!isMailable(mail.recipient))
        throw new MailFailure("the recipient's address is not valid for SMTP", true);
      const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(MAX_SEND_MS)]);
      opened ??= openTransport(settings);
      const transporter = await opened;
      try {
        await transporter.sendMail({ ...message(mail, sender, host), signal });
      } catch (error) {
        throw failureOf(error);
      }
    },
    close: () => closing.abort(),
  };
}

/** Connects and authenticates without sending. @throws MailFailure */
export async function verifySmtp(settings: SmtpSettings): Promise<void> {
  try {
    await (await openTransport(settings)).verify();
  } catch (error) {
    throw failureOf(error);
  }
}

/** The library is loaded with the first email. */
async function openTransport(settings: SmtpSettings) {
  const { createTransport } = await import("nodemailer");
  return createTransport(connection(settings));
}

function connection(settings: SmtpSettings) {
  const { host, port, isSecure, requiresTls, verifiesCertificate, servername, name, credentials } = settings;
  return {
    host,
    port,
    secure: isSecure,
    requireTLS: !isSecure && requiresTls,
    opportunisticTLS: !isSecure && !requiresTls,
    tls: {
      rejectUnauthorized: verifiesCertificate,
      minVersion: "TLSv1.2" as const,
      ...(servername === undefined ? {} : { servername }),
    },
    ...(name === undefined ? {} : { name }),
    ...(credentials === undefined ? {} : { auth: { user: credentials.user, pass: credentials.password } }),
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    dnsTimeout: CONNECT_MS,
    socketTimeout: SOCKET_TIMEOUT_MS,
    socketCloseTimeout: 0,
    logger: false,
    debug: false,
    // An email is only what we rendered: it never loads a file or URL.
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

function message(mail: DeliverableMail, sender: MailSender, host: string) {
  const from = { name: headerText(sender.name ?? mail.senderName), address: sender.address };
  return {
    from,
    to: { name: "", address: mail.recipient },
    envelope: { from: sender.address, to: [mail.recipient] },
    subject: headerText(mail.subject),
    text: mail.text,
    html: mail.html,
    messageId: `<${mail.id}@${host}>`,
    headers: {
      // RFC 3834 §5 against automatic replies, and Exchange's header against out-of-office replies.
      "Auto-Submitted": "auto-generated",
      "X-Auto-Response-Suppress": "All",
      "Content-Language": mail.locale,
    },
    xMailer: false as const,
  };
}

/** A single line: it can't start another header or change the reading direction. */
const headerText = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, " ")
    .trim()
    .slice(0, 200);

/**
 * Without the server's own words, which repeat addresses and content. A 5yz reply to the recipient is permanent (RFC
 * 5321 §4.2.1). The operator may cause everything else (password, certificate, relay rules) and may fix it within the
 * day.
 */
function failureOf(error: unknown): MailFailure {
  const { code, command, responseCode } = error as Readonly<Record<string, unknown>>;
  const words = [code, command, responseCode].filter(
    (word) => (typeof word === "string" && /^[A-Z0-9 ]{1,20}$/.test(word)) || typeof word === "number",
  );
  const isRefused = command === "RCPT TO" && typeof responseCode === "number" && responseCode >= 500;
  return new MailFailure(words.length === 0 ? "the mail server failed" : words.join(" "), isRefused);
}
