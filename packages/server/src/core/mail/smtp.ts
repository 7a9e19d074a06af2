/** SMTP (RFC 5321), one connection for each mail: a few seconds apart they are rare, and none is ever stale. */
import { createTransport } from "nodemailer";
import { isMailable, type MailSender, type SmtpSettings } from "./smtp-settings.ts";
import { type DeliverableMail, MailFailure, type MailTransport } from "./transport.ts";

const CONNECT_MS = 10_000;
const SILENCE_MS = 20_000;
/** In all: a server that answers drop by drop must not hold a mail longer than it is claimed for. */
const LONGEST_MS = 60_000;

/** @param baseUrl its host names the service in message ids */
export function smtpTransport(settings: SmtpSettings, sender: MailSender, baseUrl: string): MailTransport {
  const transporter = createTransport(connection(settings));
  const closing = new AbortController();
  const host = new URL(baseUrl).hostname;
  return {
    kind: "smtp",
    send: async (mail) => {
      if (!isMailable(mail.recipient)) throw new MailFailure("the address cannot be written to", true);
      const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(LONGEST_MS)]);
      try {
        await transporter.sendMail({ ...message(mail, sender, host), signal });
      } catch (error) {
        throw failureOf(error);
      }
    },
    close: () => closing.abort(),
  };
}

/** Connects, signs in, and sends nothing. @throws MailFailure */
export async function verifySmtp(settings: SmtpSettings): Promise<void> {
  try {
    await createTransport(connection(settings)).verify();
  } catch (error) {
    throw failureOf(error);
  }
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
    socketTimeout: SILENCE_MS,
    socketCloseTimeout: 0,
    logger: false,
    debug: false,
    // A mail is what we composed: it never reads a file or an address of its own accord.
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
      // RFC 3834 §5: no robot shall answer. And people's holiday notes neither.
      "Auto-Submitted": "auto-generated",
      "X-Auto-Response-Suppress": "All",
      "Content-Language": mail.locale,
    },
    xMailer: false as const,
  };
}

/** One line whatever it is made of: nothing in it can begin a header of its own, or turn the reading direction. */
const headerText = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, " ")
    .trim()
    .slice(0, 200);

/**
 * The server's own words stay out of it: they repeat addresses, and parts of the mail.
 * RFC 5321 §4.2.1: what a server answers with 5yz to the recipient stays so. Of everything else the operator may be the
 * cause (a password, a certificate, a relay's rules) and may set it right before the day is over.
 */
function failureOf(error: unknown): MailFailure {
  const { code, command, responseCode } = error as Readonly<Record<string, unknown>>;
  const words = [code, command, responseCode].filter(
    (word) => (typeof word === "string" && /^[A-Z0-9 ]{1,20}$/.test(word)) || typeof word === "number",
  );
  const isRefused = command === "RCPT TO" && typeof responseCode === "number" && responseCode >= 500;
  return new MailFailure(words.length === 0 ? "the mail server failed" : words.join(" "), isRefused);
}
