/**
 * Connections that the system refuses before a packet leaves, on each path by which the service calls out. Such an error
 * that nobody listens for ends the process: an address that somebody registered must not.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { generateKeyPair, SignJWT } from "jose";
import { openChangeFeed } from "../../db/change-feed.ts";
import { isDatabaseUnavailable } from "../../db/database-errors.ts";
import { openDatabase } from "../../db/open.ts";
import { viewFromNewConnection } from "../../db/postgres/server-view.ts";
import {
  type FailingConnects,
  failingConnects,
  immediateConnectErrors,
} from "../../testing/fakes/failing-connects.ts";
import { postForm } from "../../testing/fixtures/client.ts";
import { freePort } from "../../testing/free-port.ts";
import {
  makeClient,
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";
import { deliverDueLogouts } from "../backchannel-logout/delivery.ts";
import { smtpTransport, verifySmtp } from "../mail/smtp.ts";
import { parseSmtpUrl } from "../mail/smtp-settings.ts";
import { endSessions } from "../sessions/end-sessions.ts";
import { recordSessionUse } from "../sessions/sessions.store.ts";
import { signIn } from "../sessions/sessions.ts";
import { findUser } from "../users/users.store.ts";

/** By name and by address, with one address (where /etc/hosts says so) and with one of each family. */
const HOSTS = ["localhost", "app.localhost", "127.0.0.1", "[::1]"];
const ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

suite("a connection that fails immediately", () => {
  let running: TestService;
  let org: TestOrganisation;
  let connects: FailingConnects;
  let port: number;
  const uncaught: unknown[] = [];
  const note = (error: unknown) => uncaught.push(error);
  before(async () => {
    process.on("uncaughtException", note);
    const env = { SIGNET_OUTBOUND_ALLOW: "127.0.0.0/8,::1" };
    running = await startTestService({ databaseUrl: "sqlite::memory:", env });
    org = await makeOrganisation(running.service);
    port = await freePort();
    connects = failingConnects();
  });
  after(async () => {
    process.off("uncaughtException", note);
    connects.restore();
    assert.deepEqual(running.errors, []);
    await running.close();
  });
  const newClient = (settings: object) => makeClient(running.service, org.organisation, settings);

  for (const code of immediateConnectErrors) {
    const failing = (host: string) => {
      connects.fail(port, code);
      return `https://${host}:${port}/`;
    };
    /** At least one connection was tried, nothing would have ended the process, and the server still answers. */
    const survived = async (calls: number) => {
      assert.ok(connects.count() > calls);
      assert.deepEqual(uncaught, []);
      assert.equal((await fetch(`${running.baseUrl}/healthz`)).status, 200);
    };

    test(`${code}: a jwks_uri makes a client assertion invalid`, async () => {
      const { privateKey } = await generateKeyPair("ES256");
      for (const host of HOSTS) {
        const calls = connects.count();
        const { application } = await newClient({
          grantTypes: ["client_credentials"],
          tokenEndpointAuthMethod: "private_key_jwt",
          jwksUri: failing(host),
        });
        const assertion = await new SignJWT({ jti: randomUUID() })
          .setProtectedHeader({ alg: "ES256", kid: "any" })
          .setIssuer(application.id)
          .setSubject(application.id)
          .setAudience(org.issuer)
          .setIssuedAt()
          .setExpirationTime("1m")
          .sign(privateKey);
        const { status, body } = await postForm(`${org.issuer}/token`, {
          grant_type: "client_credentials",
          client_assertion_type: ASSERTION_TYPE,
          client_assertion: assertion,
        });
        assert.deepEqual([status, body["error"]], [401, "invalid_client"], host);
        await survived(calls);
      }
    });

    test(`${code}: a back-channel logout is tried again later`, async () => {
      const { service } = running;
      const { id: orgId } = org.organisation;
      const user = await findUser(service.database.query, orgId, org.user.id);
      if (!user) throw new Error("no such user");
      for (const host of HOSTS) {
        const calls = connects.count();
        const { application } = await newClient({ backchannelLogoutUri: failing(host) });
        const { session } = await signIn(service, {
          organisation: org.organisation,
          user,
          amr: ["pwd"],
          acr: "urn:signet:acr:pwd",
          address: "192.0.2.1",
          userAgent: "test",
          before: undefined,
        });
        const now = Date.now();
        const used = { orgId, sessionId: session.id, applicationId: application.id, now };
        await recordSessionUse(service.database.query, used);
        const end = { orgId, userId: user.id, sessionId: session.id, reason: "signed_out", now } as const;
        await service.database.transaction((tx) => endSessions(tx, end));
        await deliverDueLogouts({ ...service, baseUrl: running.baseUrl });
        const row = await service.database.query
          .selectFrom("logout_delivery")
          .selectAll()
          .where("application_id", "=", application.id)
          .executeTakeFirstOrThrow();
        assert.deepEqual([row.attempts, row.delivered_at, row.failed_at], [1, null, null], host);
        assert.match(row.last_error ?? "", new RegExp(`could not be reached.*${code}`), host);
        await survived(calls);
      }
    });

    test(`${code}: mail is a failure to send`, async () => {
      for (const host of ["127.0.0.1", "[::1]"]) {
        const calls = connects.count();
        failing(host);
        const settings = parseSmtpUrl(`smtp://${host}:${port}`);
        if (typeof settings === "string") throw new Error(settings);
        const transport = smtpTransport(
          settings,
          { address: "a@b.example", name: "Signet" },
          "https://id.example",
        );
        const mail = { id: randomUUID(), template: "NewSignIn", recipient: "ada@b.example" } as const;
        const content = { senderName: "Acme", locale: "en", subject: "s", text: "t", html: "h" };
        const failure = { name: "MailFailure", isFinal: false };
        await assert.rejects(transport.send({ ...mail, ...content }), failure, host);
        await assert.rejects(verifySmtp(settings), failure, host);
        await survived(calls);
      }
    });

    test(`${code}: the database is unavailable`, async () => {
      for (const host of ["localhost", "127.0.0.1", "[::1]"]) {
        const calls = connects.count();
        failing(host);
        const url = `postgres://signet@${host}:${port}/signet`;
        const database = openDatabase(url);
        await assert.rejects(database.ping(), (error) => {
          assert.equal((error as { code?: unknown }).code, code, host);
          return isDatabaseUnavailable(error);
        });
        assert.equal(await viewFromNewConnection(url, []), undefined);
        const feed = openChangeFeed(database);
        await assert.rejects(feed, { code }, host);
        await database.close();
        await survived(calls);
      }
    });
  }
});

test("these files open connections, and no other: a new path belongs into the tests above", async () => {
  const root = join(import.meta.dirname, "..", "..");
  const opens = [
    /^import (?!type )[^;]*\b(request|get|Agent|connect|createConnection|Socket)\b[^;]* from "node:(http|https|net|tls|http2)"/m,
    /^import (?!type )[^;]* from "(node:(dns|dns\/promises|dgram)|nodemailer|pg|undici)"/m,
    /\bimport\("(node:(https?|net|tls|http2|dns|dns\/promises|dgram)|nodemailer|pg|undici)"\)/,
    /\bfetch\(|createRemoteJWKSet\(|new WebSocket\(/,
  ];
  const found: string[] = [];
  for await (const file of glob("**/*.ts", { cwd: root })) {
    if (/\.test\.ts$|^testing\//.test(file)) continue;
    const text = (await readFile(join(root, file), "utf8")).replace(/\btype \w+(?=\s*[,}])/g, "");
    if (opens.some((one) => one.test(text))) found.push(file);
  }
  assert.deepEqual(found.sort(), [
    // The command line's own, to the ledger and to the server that its operator names.
    "cli/ledger/ledger-verify.ts",
    "cli/remote/http-transport.ts",
    // The same, to the address that its operator names.
    "cli/webhook/listen.ts",
    // UDP to name servers, as below.
    "core/domains/txt-records.ts",
    "core/mail/smtp.ts",
    // UDP to name servers: nothing to connect.
    "core/outbound/name-resolver.ts",
    "core/outbound/outbound.ts",
    "db/postgres/postgres-listener.ts",
    "db/postgres/postgres.ts",
    // Looks after the connections of the two above.
    "db/postgres/server-view.ts",
    "db/postgres/watched-connections.ts",
    // Examples that the page shows.
    "features/admin-console/quickstart/code-snippets.ts",
    // In demo mode, to this server itself.
    "features/demo/demo.route.ts",
  ]);
});
