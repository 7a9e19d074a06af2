/** An SMTP server on loopback that records emails, with a minimal MIME reader. */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";

export interface ReceivedMail {
  readonly from: string;
  readonly recipients: readonly string[];
  /** As received. */
  readonly raw: string;
  /** By name in lower case, unfolded; encoded words are decoded. */
  readonly headers: ReadonlyMap<string, string>;
  readonly text: string;
  readonly html: string;
  readonly isSecure: boolean;
  /** The authenticated SMTP user, if any. */
  readonly user: string | undefined;
}

export interface TestMailServer {
  readonly port: number;
  readonly mails: ReceivedMail[];
  /** The next email, or the first that was received and not yet returned. */
  next(): Promise<ReceivedMail>;
  close(): Promise<void>;
}

/** @param options of smtp-server; without them it wants no sign-in and offers no TLS */
export async function startMailServer(
  options: SMTPServerOptions & { port?: number } = {},
): Promise<TestMailServer> {
  const { port = 0, ...given } = options;
  const mails: ReceivedMail[] = [];
  const waiting: Array<(mail: ReceivedMail) => void> = [];
  let taken = 0;
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    logger: false,
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const { mailFrom, rcptTo } = session.envelope;
        const mail = {
          from: mailFrom === false ? "" : mailFrom.address,
          recipients: rcptTo.map(({ address }) => address),
          ...readMime(Buffer.concat(chunks).toString("utf8")),
          isSecure: session.secure,
          user: session.user === undefined ? undefined : String(session.user),
        };
        mails.push(mail);
        const waiter = waiting.shift();
        if (waiter) {
          taken += 1;
          waiter(mail);
        }
        done();
      });
    },
    ...given,
  });
  // Tests abort connections on purpose.
  server.on("error", () => {});
  const listening = server.listen(port, "127.0.0.1");
  await once(listening, "listening");
  return {
    port: (listening.address() as AddressInfo).port,
    mails,
    next: () => {
      const here = mails[taken];
      if (!here) return new Promise((resolve) => waiting.push(resolve));
      taken += 1;
      return Promise.resolve(here);
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function readMime(raw: string): Pick<ReceivedMail, "raw" | "headers" | "text" | "html"> {
  const headers = headersOf(raw);
  const boundary = /boundary="?([^";]+)"?/.exec(headers.get("content-type") ?? "")?.[1];
  const parts = boundary === undefined ? [raw] : raw.split(`--${boundary}`).slice(1, -1);
  const part = (type: string) => {
    const found = parts.find((one) => headersOf(one.trimStart()).get("content-type")?.startsWith(type));
    return found === undefined ? "" : contentOf(found.trimStart());
  };
  return { raw, headers, text: part("text/plain"), html: part("text/html") };
}

function headersOf(raw: string): Map<string, string> {
  const [head = ""] = raw.split("\r\n\r\n");
  const lines = head.replace(/\r\n[ \t]+/g, " ").split("\r\n");
  return new Map(
    lines.map((line) => {
      const at = line.indexOf(":");
      return [line.slice(0, at).toLowerCase(), decodeWords(line.slice(at + 1).trim())];
    }),
  );
}

/** RFC 2047: `=?utf-8?Q?…?=` and `=?utf-8?B?…?=`; spaces between two of them are nothing. */
const decodeWords = (text: string): string =>
  text
    .replace(/\?=\s+=\?/g, "?==?")
    .replace(/=\?utf-8\?([QB])\?([^?]*)\?=/gi, (_all, kind: string, word: string) =>
      kind.toUpperCase() === "B" ? Buffer.from(word, "base64").toString() : quoted(word.replaceAll("_", " ")),
    );

function contentOf(part: string): string {
  const encoding = headersOf(part).get("content-transfer-encoding")?.toLowerCase();
  const body = part.slice(part.indexOf("\r\n\r\n") + 4).trimEnd();
  if (encoding === "base64") return Buffer.from(body, "base64").toString();
  const plain = encoding === "quoted-printable" ? quoted(body.replace(/=\r\n/g, "")) : body;
  return plain.replaceAll("\r\n", "\n");
}

/** RFC 2045 §6.7. */
const quoted = (text: string): string =>
  Buffer.from(
    text.replace(/=([0-9A-F]{2})/gi, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    "latin1",
  ).toString("utf8");
