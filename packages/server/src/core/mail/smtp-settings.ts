/** Parses `SMTP_URL` and `SIGNET_MAIL_FROM`. */
import { isEmail } from "../users/user.ts";

export interface SmtpSettings {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte (`smtps`). */
  readonly isSecure: boolean;
  /** Requires STARTTLS. Default except on loopback: links and passwords must not travel in clear. */
  readonly requiresTls: boolean;
  readonly verifiesCertificate: boolean;
  /** The name in the certificate, where it differs from the host. */
  readonly servername?: string;
  /** The name in EHLO. */
  readonly name?: string;
  readonly credentials?: { readonly user: string; readonly password: string };
}

export interface MailSender {
  readonly address: string;
  /** Default: the organisation's name. */
  readonly name?: string;
}

/** nodemailer's names. Others are rejected instead of being passed on, above all logging of the traffic. */
const PARAMETERS = ["requireTLS", "tls.rejectUnauthorized", "tls.servername", "name"];

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host);

/** @returns the settings, or a description of the fault, without parts of the text, which contains a password */
export function parseSmtpUrl(text: string): SmtpSettings | string {
  const url = /^smtps?:\/\//.test(text) ? URL.parse(text) : null;
  if (!url || url.hostname === "" || !["", "/"].includes(url.pathname) || url.hash !== "")
    return "must be smtp://user:password@host:port or smtps://…";
  const parameters = new Map(url.searchParams);
  const unknown = [...parameters.keys()].find((name) => !PARAMETERS.includes(name));
  if (unknown !== undefined) return `knows no parameter but ${PARAMETERS.join(", ")}`;
  const requireTls = flag(parameters.get("requireTLS"));
  const verify = flag(parameters.get("tls.rejectUnauthorized"));
  if (requireTls === "invalid" || verify === "invalid")
    return "takes true or false for requireTLS and tls.rejectUnauthorized";
  const credentials = readCredentials(url);
  if (credentials === "invalid") return "has a user or password with a broken % sequence";
  const isSecure = url.protocol === "smtps:";
  const isHere = isLoopback(url.hostname);
  const servername = parameters.get("tls.servername");
  const name = parameters.get("name");
  if (name !== undefined && !/^[A-Za-z0-9.-]{1,255}$/.test(name)) return "takes a host name for name";
  return {
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: url.port === "" ? (isSecure ? 465 : 587) : Number(url.port),
    isSecure,
    requiresTls: requireTls ?? !isHere,
    // On loopback nobody can listen, and local relays have self-signed certificates.
    verifiesCertificate: verify ?? !isHere,
    ...(servername === undefined ? {} : { servername }),
    ...(name === undefined ? {} : { name }),
    ...(credentials === undefined ? {} : { credentials }),
  };
}

function flag(text: string | undefined): boolean | undefined | "invalid" {
  if (text === undefined) return undefined;
  return text === "true" || text === "false" ? text === "true" : "invalid";
}

function readCredentials({ username, password }: URL): SmtpSettings["credentials"] | "invalid" {
  if (username === "") return undefined;
  try {
    return { user: decodeURIComponent(username), password: decodeURIComponent(password) };
  } catch {
    return "invalid";
  }
}

/** `address` or `Name <address>`. @returns undefined for anything else */
export function parseSender(text: string): MailSender | undefined {
  const [, name = "", bracketed] = /^([^<>]*)<([^<>]+)>$/.exec(text) ?? [];
  const address = (bracketed ?? text).trim();
  if (!isMailable(address) || /\p{Cc}/u.test(name)) return undefined;
  const shown = name.trim().replace(/^"(.*)"$/, "$1");
  return shown === "" ? { address } : { address, name: shown };
}

/**
 * An address that fits into the envelope as it is: no quoting, brackets or lists (RFC 5321 §4.1.2). Others that
 * `isEmail` accepts are not real mailboxes, and programs parse them differently.
 */
export const isMailable = (address: string): boolean =>
  isEmail(address) && !/[\s"(),:;<>@[\\\]]/.test(address.replace("@", ""));
