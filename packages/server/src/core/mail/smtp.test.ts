import assert from "node:assert/strict";
import { createServer } from "node:net";
import { test } from "node:test";
import { startMailServer } from "../../testing/fakes/mail-server.ts";
import { selfSigned } from "../../testing/fixtures/self-signed.ts";
import { freePort } from "../../testing/free-port.ts";
import { smtpTransport, verifySmtp } from "./smtp.ts";
import { type MailSender, parseSmtpUrl, type SmtpSettings } from "./smtp-settings.ts";
import { type DeliverableMail, MailFailure } from "./transport.ts";

const BASE_URL = "https://id.example";
const sender: MailSender = { address: "no-reply@id.example" };
const mail: DeliverableMail = {
  id: "01998d6e-0000-7000-8000-000000000001",
  template: "ResetPassword",
  recipient: "uma@acme.example",
  senderName: "Æble & Söhne",
  locale: "da",
  subject: "Set a new password for Æble & Söhne",
  text: "Follow this:\nhttps://id.example/oauth/1/recovery/sgn_ua_secret\n",
  html: '<p>Follow <a href="https://id.example/oauth/1/recovery/sgn_ua_secret">this</a></p>',
};

function settings(url: string): SmtpSettings {
  const parsed = parseSmtpUrl(url);
  assert.ok(typeof parsed === "object", String(parsed));
  return parsed;
}

const sendTo = (url: string, more: Partial<DeliverableMail> = {}, from = sender) =>
  smtpTransport(settings(url), from, BASE_URL).send({ ...mail, ...more });

async function failureOf(work: Promise<void>): Promise<MailFailure> {
  try {
    await work;
  } catch (error) {
    assert.ok(error instanceof MailFailure, String(error));
    return error;
  }
  assert.fail("it was sent");
}

test("a mail arrives as text and as HTML, in the organisation's name", async (t) => {
  const server = await startMailServer();
  t.after(() => server.close());
  await sendTo(`smtp://127.0.0.1:${server.port}`);
  const { headers, text, html, from, recipients, raw } = await server.next();
  assert.equal(from, sender.address);
  assert.deepEqual(recipients, ["uma@acme.example"]);
  assert.match(headers.get("from") ?? "", /^"?Æble & Söhne"? <no-reply@id\.example>$/);
  assert.equal(headers.get("to"), "uma@acme.example");
  assert.equal(headers.get("subject"), mail.subject);
  assert.equal(headers.get("message-id"), `<${mail.id}@id.example>`);
  assert.equal(headers.get("auto-submitted"), "auto-generated");
  assert.equal(headers.get("content-language"), "da");
  assert.match(headers.get("content-type") ?? "", /^multipart\/alternative;/);
  assert.equal(text, mail.text.trimEnd());
  assert.equal(html, mail.html);
  assert.doesNotMatch(raw, /x-mailer|user-agent/i);
});

test("a sender with a name of its own keeps it", async (t) => {
  const server = await startMailServer();
  t.after(() => server.close());
  await sendTo(`smtp://127.0.0.1:${server.port}`, {}, { ...sender, name: "Accounts" });
  assert.equal((await server.next()).headers.get("from"), "Accounts <no-reply@id.example>");
});

test("names and subjects with line breaks add no header and no reader", async (t) => {
  const server = await startMailServer();
  t.after(() => server.close());
  const url = `smtp://127.0.0.1:${server.port}`;
  const attack = "Acme\r\nBcc: eve@evil.example\r\nX-Evil: yes\u2028\u202e";
  await sendTo(url, { senderName: attack, subject: attack });
  const { headers, recipients } = await server.next();
  assert.deepEqual(recipients, ["uma@acme.example"]);
  assert.equal(headers.get("bcc"), undefined);
  assert.equal(headers.get("x-evil"), undefined);
  assert.equal(headers.get("subject"), "Acme Bcc: eve@evil.example X-Evil: yes");
});

test("an address that reads as several, or as a header, is written to nobody", async (t) => {
  const server = await startMailServer();
  t.after(() => server.close());
  const recipients = [
    "uma@acme.example\r\nBcc: eve@evil.example",
    "uma@acme.example,eve@evil.example",
    '"eve@evil.example x"@acme.example',
    "uma@acme.example>\r\nRCPT TO:<eve@evil.example",
  ];
  for (const recipient of recipients) {
    const failure = await failureOf(sendTo(`smtp://127.0.0.1:${server.port}`, { recipient }));
    assert.equal(failure.isFinal, true);
    assert.doesNotMatch(failure.message, /evil/);
  }
  assert.deepEqual(server.mails, []);
});

test("STARTTLS is used where it is offered, and credentials are sent", async (t) => {
  const server = await startMailServer({
    ...selfSigned(),
    disabledCommands: [],
    authOptional: false,
    onAuth: ({ username, password }, _session, done) =>
      password === "s:cret" ? done(null, { user: username }) : done(new Error("wrong")),
  });
  t.after(() => server.close());
  await sendTo(`smtp://ada:s%3Acret@127.0.0.1:${server.port}`);
  const { isSecure, user } = await server.next();
  assert.equal(isSecure, true);
  assert.equal(user, "ada");
  const failure = await failureOf(sendTo(`smtp://ada:wrong@127.0.0.1:${server.port}`));
  assert.match(failure.message, /^EAUTH .*535$/);
  assert.equal(failure.isFinal, false, "the operator may set it right");
});

test("TLS from the first byte", async (t) => {
  const server = await startMailServer({ ...selfSigned(), secure: true });
  t.after(() => server.close());
  await sendTo(`smtps://127.0.0.1:${server.port}`);
  assert.equal((await server.next()).isSecure, true);
});

test("where TLS is asked for, nothing is sent without it or past a certificate that does not hold", async (t) => {
  const plain = await startMailServer();
  const unknown = await startMailServer({ ...selfSigned(), disabledCommands: [] });
  t.after(() => Promise.all([plain.close(), unknown.close()]));
  await failureOf(sendTo(`smtp://127.0.0.1:${plain.port}?requireTLS=true`));
  const strict = "requireTLS=true&tls.rejectUnauthorized=true";
  await failureOf(sendTo(`smtp://127.0.0.1:${unknown.port}?${strict}`));
  assert.deepEqual([...plain.mails, ...unknown.mails], []);
});

test("an address that the server refuses for good is final, one that it refuses for now is not", async (t) => {
  for (const [responseCode, isFinal] of [
    [550, true],
    [450, false],
  ] as const) {
    const server = await startMailServer({
      onRcptTo: ({ address }, _session, done) =>
        done(Object.assign(new Error(`no ${address} here`), { responseCode })),
    });
    t.after(() => server.close());
    const failure = await failureOf(sendTo(`smtp://127.0.0.1:${server.port}`));
    assert.equal(failure.isFinal, isFinal);
    assert.equal(failure.message, `EENVELOPE RCPT TO ${responseCode}`);
  }
});

test("what a failure says holds no address, no link and none of the server's words", async (t) => {
  const server = await startMailServer({
    onData: (stream, _session, done) => {
      stream.resume();
      stream.on("end", () => done(new Error(`refused: ${mail.text}`)));
    },
  });
  t.after(() => server.close());
  const failure = await failureOf(sendTo(`smtp://127.0.0.1:${server.port}`));
  assert.doesNotMatch(String(failure.stack), /sgn_ua|uma@|refused/);
});

test("a server that is not there fails, one that never speaks is left when we close", async (t) => {
  const failure = await failureOf(sendTo(`smtp://127.0.0.1:${await freePort()}`));
  assert.equal(failure.isFinal, false);
  const silent = createServer(() => {});
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  t.after(() => silent.close());
  const address = silent.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const transport = smtpTransport(settings(`smtp://127.0.0.1:${port}`), sender, BASE_URL);
  const sending = failureOf(transport.send(mail));
  transport.close();
  assert.equal((await sending).message, "EABORT");
});

test("verifying connects and signs in, and sends nothing", async (t) => {
  const server = await startMailServer();
  t.after(() => server.close());
  await verifySmtp(settings(`smtp://127.0.0.1:${server.port}`));
  assert.deepEqual(server.mails, []);
  await failureOf(verifySmtp(settings(`smtp://127.0.0.1:${await freePort()}`)));
});
