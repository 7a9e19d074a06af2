/** From the form to the reader over real SMTP: a server that is down, a restart in between, several nodes, a stop. */
import assert from "node:assert/strict";
import { createServer, type Socket } from "node:net";
import { after, before, describe, test } from "node:test";
import { mailComposer } from "../../modules/mail-content.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { eventually } from "../../testing/eventually.ts";
import { testBrowser } from "../../testing/fakes/browser.ts";
import { fakeClock } from "../../testing/fakes/fake-clock.ts";
import { startMailServer } from "../../testing/fakes/mail-server.ts";
import { quickPasswords } from "../../testing/fakes/quick-passwords.ts";
import { follow } from "../../testing/fixtures/visit.ts";
import { freePort } from "../../testing/free-port.ts";
import { makeOrganisation, startTestService, type TestService } from "../../testing/test-service.ts";
import { findUser } from "../users/users.store.ts";
import { deliverDueMails, type MailLine, startMailDelivery } from "./delivery.ts";
import { sendNotice } from "./notices.ts";

describe("email journey", () => {
  forEachDatabase(({ fresh }) => {
    const clock = fakeClock();
    let databaseUrl: string;
    let smtpPort: number;
    before(async () => {
      databaseUrl = await fresh();
      smtpPort = await freePort();
    });
    const started: TestService[] = [];
    const stops: Array<() => Promise<void>> = [];
    after(async () => {
      await Promise.all(stops.map((stop) => stop()));
      await Promise.all(started.map((service) => service.close()));
    });

    async function startNode(baseUrl?: string): Promise<TestService> {
      const env = {
        SMTP_URL: `smtp://127.0.0.1:${smtpPort}`,
        SIGNET_MAIL_FROM: "no-reply@id.example",
        SIGNET_RATE_LIMITS: "recovery-account=100/60",
      };
      const more = baseUrl === undefined ? {} : { baseUrl };
      const node = await startTestService({ databaseUrl, clock, env, passwords: quickPasswords, ...more });
      started.push(node);
      return node;
    }
    function worker({ service }: TestService) {
      const lines: MailLine[] = [];
      const errors: unknown[] = [];
      const deps = {
        ...service,
        compose: mailComposer({ ...service, baseUrl: service.config.baseUrl }),
        transport: service.mailTransport,
        note: (line: MailLine) => lines.push(line),
        onError: (error: unknown) => errors.push(error),
      };
      return { deps, lines, errors };
    }

    test("an email waits for its server, also across a restart, and arrives with its link", async () => {
      const first = await startNode();
      const org = await makeOrganisation(first.service);
      const browser = testBrowser();
      const form = await browser.get(`${org.issuer}/recovery`);
      await browser.post(`${org.issuer}/recovery`, { ...form.hidden, email: org.user.email });
      const { deps, lines } = worker(first);
      assert.equal(await deliverDueMails(deps), 1);
      assert.equal(lines[0]?.outcome, "will be tried again");
      await first.close();
      started.pop();

      const second = await startNode(first.baseUrl);
      const server = await startMailServer({ port: smtpPort });
      clock.advance(10_000);
      const running = worker(second);
      stops.push(startMailDelivery({ ...running.deps, outbox: second.service.outbox }));
      const mail = await server.next();
      assert.deepEqual(mail.recipients, [org.user.email]);
      assert.equal(mail.headers.get("subject"), "Reset your password for Acme");
      assert.match(mail.headers.get("from") ?? "", /^Acme <no-reply@id\.example>$/);
      const link = /^(\S+\/reset\/sgn_ua_\S+)$/m.exec(mail.text)?.[1] ?? "";
      assert.ok(mail.html.includes(link));
      const opened = await follow(browser, await browser.get(link.replace(first.baseUrl, second.baseUrl)));
      assert.match(opened.body, /id="new-password-submit"/);

      await stops.pop()?.();
      await server.close();
      const logged = JSON.stringify([first.lines, second.lines, lines, running.lines, running.errors]);
      assert.doesNotMatch(logged, /sgn_ua_|@acme/);
    });

    test("several nodes send each email once, soon after it was written", async () => {
      const server = await startMailServer({ port: smtpPort });
      const nodes = [await startNode(), await startNode()];
      const workers = nodes.map(worker);
      const stopping = workers.map((one, index) => {
        const node = nodes[index];
        assert.ok(node);
        return startMailDelivery({ ...one.deps, outbox: node.service.outbox });
      });
      const [{ service }] = nodes as [TestService, TestService];
      const org = await makeOrganisation(service, "Busy");
      const user = await findUser(service.database.query, org.organisation.id, org.user.id);
      assert.ok(user);
      for (let count = 0; count < 12; count += 1)
        await service.database.transaction((tx) => sendNotice(tx, service, user, { template: "NewSignIn" }));
      const mails = await Promise.all(Array.from({ length: 12 }, () => server.next()));
      assert.equal(new Set(mails.map(({ headers }) => headers.get("message-id"))).size, 12);
      await Promise.all(stopping.map((stop) => stop()));
      assert.equal(server.mails.length, 12);
      assert.deepEqual(
        workers.flatMap(({ errors }) => errors),
        [],
      );
      await server.close();
    });

    test("a silent server doesn't block the shutdown, and the email is kept", async () => {
      const sockets: Socket[] = [];
      const silent = createServer((socket) => sockets.push(socket));
      await new Promise<void>((resolve) => silent.listen(smtpPort, "127.0.0.1", resolve));
      const node = await startNode();
      const org = await makeOrganisation(node.service, "Slow");
      const browser = testBrowser();
      const form = await browser.get(`${org.issuer}/recovery`);
      await browser.post(`${org.issuer}/recovery`, { ...form.hidden, email: org.user.email });
      const { deps, lines, errors } = worker(node);
      const stop = startMailDelivery({ ...deps, outbox: node.service.outbox });
      await eventually("the mail server has a connection", () => sockets.length > 0);
      const began = performance.now();
      await stop();
      assert.ok(performance.now() - began < 15_000);
      assert.deepEqual(lines, [
        { template: "ResetPassword", attempts: 1, outcome: "will be tried again", reason: "EABORT" },
      ]);
      assert.deepEqual(errors, []);
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => silent.close(resolve));
    });
  });
});
