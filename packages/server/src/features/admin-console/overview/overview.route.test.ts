import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { newUuid } from "@signet/protocol/uuid";
import { addActivity } from "../../../core/activity/activity.store.ts";
import { HOUR_MS, ofApplication, ofMethod } from "../../../core/activity/kinds.ts";
import { createClientSecret } from "../../../core/applications/client-secrets.ts";
import { recordAgentSeen } from "../../../core/signing-pools/signing-agent.store.ts";
import { render } from "../../../html/html.ts";
import { messages } from "../../../html/messages/messages.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { type SeededRecords, seedRecords } from "../../../testing/fixtures/planted-records.ts";
import { type ConsoleBrowser, consoleBrowser, plain } from "../../../testing/probes/console-browser.ts";
import { startTestService, type TestService } from "../../../testing/test-service.ts";
import { attentionCard } from "./attention.page.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: SeededRecords;
  let clock: FakeClock;
  let browser: ConsoleBrowser;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock });
    org = await seedRecords(running.service, "Acme");
    browser = await consoleBrowser(running, org);
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const orgId = () => org.organisation.id;
  const figure = (body: string, name: string) =>
    new RegExp(`id="figure-${name}"[\\s\\S]*?figure-value">([^<]*)`).exec(body)?.[1];
  /** The titles of what needs attention. */
  const attention = async () => {
    const { body } = await browser.get("");
    return [...body.matchAll(/id="attention-\d+"[^>]*>([^<]*)/g)].map(([, title = ""]) => plain(title));
  };

  test("the overview counts only the organisation's own records", async () => {
    await seedRecords(running.service, "Beta");
    const { body, status } = await browser.get("");
    assert.equal(status, 200);
    const figures = ["users", "sessions", "applications", "devices"].map((name) => figure(body, name));
    // With those that hang on others, and those in other states (testing/fixtures/records-in-states.ts).
    assert.deepEqual(figures, ["5", "3", "6", "1"]);
    assert.equal(figure(body, "agents"), "0");
    assert.doesNotMatch(body, /Beta/);
  });

  test("charts show the chosen time range", async () => {
    const hour = clock() - (clock() % HOUR);
    // The administrator's own sign-in: what waits in memory would be written at any moment from now on.
    await running.service.activity.flush();
    const row = (kind: string, at: number, total: number) => ({ orgId: orgId(), kind, hour: at, total });
    await addActivity(running.service.database.query, [
      row("sign-ins", hour, 1_100),
      row("sign-ins", hour - 3 * DAY, 200),
      row("sign-ins", hour - 60 * DAY, 30),
      row("refused-tokens", hour, 7),
    ]);
    const sums = async (range: string) => {
      const { body } = await browser.get(`?range=${range}`);
      const [, card = ""] = /id="sign-ins"([\s\S]*?)<\/section>/.exec(body) ?? [];
      const points = card.match(/<th scope="row">/g)?.length;
      return [/figure-value">([^<]*)/.exec(card)?.[1], points];
    };
    assert.deepEqual(await sums("24h"), ["1,101", 24]);
    assert.deepEqual(await sums("7d"), ["1,301", 28]);
    assert.deepEqual(await sums("30d"), ["1,301", 30]);
    assert.deepEqual(await sums("90d"), ["1,331", 90]);
    assert.deepEqual(await sums("nonsense"), ["1,301", 28]);
  });

  test("charts tell sign-ins by method, tokens by application, and how both compare to the time before", async () => {
    const hour = clock() - (clock() % HOUR_MS);
    const from = clock() - (clock() % DAY) - 6 * DAY;
    const after = hour - 7 * DAY + HOUR_MS;
    const { id } = org.batch.application;
    const row = (kind: string, at: number, total: number) => ({ orgId: orgId(), kind, hour: at, total });
    await running.service.database.query.deleteFrom("activity").execute();
    await addActivity(running.service.database.query, [
      row("sign-ins", hour, 10),
      row(ofMethod("passkey"), hour, 6),
      row(ofMethod("password-and-factor"), hour, 1),
      row("failed-sign-ins", hour, 2),
      // Of the week before: at its begin, and after as much of it as has passed of this one.
      row("sign-ins", from - 7 * DAY, 8),
      // In the last hour of a day (UTC), the week before has no hour after it.
      ...(after < from ? [row("sign-ins", after, 1_000)] : []),
      row("tokens", hour, 9),
      row(ofApplication(id), hour, 5),
      row(ofApplication(newUuid()), hour, 3),
    ]);
    const { body } = await browser.get("");
    const card = (name: string) => new RegExp(`id="${name}"([\\s\\S]*?)</section>`).exec(body)?.[1] ?? "";
    const legend = [...card("sign-ins").matchAll(/<\/span>([^<]*)<\/dt><dd>([^<]*)/g)];
    assert.deepEqual(
      legend.map(([, label, figure]) => [label, figure]),
      [
        ["Passkey", "6"],
        ["Password and second factor", "1"],
        ["Password", "0"],
        ["Method not recorded", "3"],
        ["Failed", "2"],
      ],
    );
    assert.match(card("sign-ins"), /25% more than in the previous period/);
    assert.doesNotMatch(card("tokens"), /previous period/);
    const ranked = [...card("tokens-by-application").matchAll(/<bdi>([^<]*)[\s\S]*?ranking-value">([^<]*)/g)];
    assert.deepEqual(
      ranked.map(([, name, tokens]) => [name, tokens]),
      [
        [org.batch.application.name, "5"],
        ["Deleted application", "3"],
        ["Other applications", "1"],
      ],
    );
    const numbers = [
      ...card("tokens-by-application").matchAll(/<tr>(<th scope="(?:col|row)">[\s\S]*?)<\/tr>/g),
    ]
      .map(([, row = ""]) => [...row.matchAll(/>([^<]+)</g)].map(([, cell]) => cell))
      .filter((row) => row.slice(1).some((cell) => cell !== "0"));
    assert.deepEqual(
      numbers.map((row) => row.slice(1)),
      [
        [org.batch.application.name, "Deleted application", "Other applications"],
        ["5", "3", "1"],
      ],
      "the table behind it, by hour",
    );
    for (const range of ["24h", "7d", "30d", "90d"]) {
      const { body: page } = await browser.get(`?range=${range}`);
      for (const chart of ["sign-ins", "tokens", "tokens-by-application"]) {
        const [, drawn = ""] =
          new RegExp(`id="${chart}-chart"[\\s\\S]*?chart-table([\\s\\S]*?)</table>`).exec(page) ?? [];
        const rows = drawn.match(/<tr><th scope="row">/g)?.length;
        assert.equal(rows, { "24h": 24, "7d": 28, "30d": 30, "90d": 90 }[range], `${chart} of ${range}`);
      }
    }
  });

  test("lists what needs attention with a link, until it is done", async () => {
    const { service } = running;
    const agentAway = "No agent of the pool SeededRecords pool Acme is online";
    const noMail = "Email isn’t set up";
    assert.deepEqual(await attention(), [agentAway, noMail]);
    const seen = { orgId: orgId(), id: org.ids["agent"] ?? "", now: clock(), every: 0 };
    await recordAgentSeen(service.database.query, seen);
    assert.deepEqual(await attention(), [noMail]);
    const applicationId = org.web.application.id;
    const secret = { orgId: orgId(), applicationId, label: "Old", actor: "test" };
    await createClientSecret(service, { ...secret, expiresAt: clock() + 13 * DAY });
    await createClientSecret(service, { ...secret, label: "Later", expiresAt: clock() + 30 * DAY });
    assert.deepEqual(await attention(), ["A client secret of Web expires soon", noMail]);
    assert.match((await browser.get("")).body, new RegExp(`href="[^"]*/applications/${applicationId}"`));
  });

  test("links to the audit log with a filter that the log applies", async () => {
    const card = attentionCard([{ kind: "mail-failed", count: 1 }], (rest) => rest, messages(["en"]));
    const [, link = ""] = /href="(\/audit-log[^"]*)"/.exec(render(card)) ?? [];
    assert.match((await browser.get(link)).body, /<option value="mail\.failed" selected>/);
  });

  test("shows the newest events in words", async () => {
    const { body } = await browser.get("");
    const [, list = ""] = /class="events">([\s\S]*?)<\/ul>/.exec(body) ?? [];
    assert.match(list, /event-what"[^>]*>[A-Z][^<.]*/);
    assert.equal(list.match(/<li>/g)?.length, 6);
  });

  test("names what an event was about, but not the organisation whose page it is", async () => {
    await browser.send("/settings/policies", { passwordMinLength: "13" });
    const { body } = await browser.get("");
    const [first = "", ...others] = [...body.matchAll(/class="event-what"[^>]*>(.*?)<\/a>/g)].map(
      ([, what = ""]) => what,
    );
    assert.equal(first, "Organisation settings changed");
    assert.ok(others.some((what) => /: <bdi>/.test(what)));
  });
});

test("shows getting-started hints only to an empty organisation", async (context) => {
  const running = await startTestService({ databaseUrl: "sqlite::memory:" });
  context.after(() => running.close());
  const org = await seedRecords(running.service, "Acme");
  const browser = await consoleBrowser(running, org);
  assert.doesNotMatch((await browser.get("")).body, /id="first-steps"/);
  await running.service.database.query.deleteFrom("application").execute();
  assert.match((await browser.get("")).body, /id="first-quickstart" href="[^"]*\/quickstart"/);
});
