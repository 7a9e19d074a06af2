/** The service while its PostgreSQL is away, and when it is back. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { sql } from "kysely";
import { freshPostgres, type Scratch } from "../testing/databases.ts";
import { eventually } from "../testing/eventually.ts";
import { type BreakableProxy, breakableProxy } from "../testing/fakes/breakable-proxy.ts";
import { notificationsDelivered } from "../testing/fakes/change-notifications.ts";
import { type CodeSource, codeSource, type IssuedTokens } from "../testing/fakes/code-source.ts";
import { type FakeClock, fakeClock } from "../testing/fakes/fake-clock.ts";
import { type Answer, credentials, postForm, refresh } from "../testing/fixtures/client.ts";
import { assertOAuthError, sendRaw } from "../testing/probes/answers.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../testing/test-service.ts";

describe("PostgreSQL outage", () => {
  let database: Scratch;
  let proxy: BreakableProxy;
  let running: TestService;
  let org: TestOrganisation;
  let clock: FakeClock;
  let source: CodeSource;
  let tokens: IssuedTokens;
  before(async () => {
    database = await freshPostgres();
    proxy = await breakableProxy(database.url);
    clock = fakeClock();
    running = await startTestService({ databaseUrl: proxy.url, clock });
    org = await makeOrganisation(running.service);
    source = codeSource(org);
    tokens = await source.tokens();
    const readDocuments = async () => {
      for (const address of documents()) assert.equal((await sendRaw(address, {})).status, 200);
    };
    // The first time makes keys: until the news of them has come back it takes away what is kept.
    await readDocuments();
    await notificationsDelivered(running.service);
    await readDocuments();
  });
  after(async () => {
    await running.close();
    await proxy.close();
    await database.remove();
  });

  const documents = () => [
    `${org.issuer}/.well-known/openid-configuration`,
    `${org.issuer}/.well-known/jwks.json`,
    org.issuer.replace("/oauth/", "/.well-known/oauth-authorization-server/oauth/"),
  ];
  const unavailable = (answer: Answer) => {
    assertOAuthError(answer, 503, "temporarily_unavailable");
    assert.match(answer.headers.get("retry-after") ?? "", /^[1-9][0-9]?$/);
  };
  const introspect = () =>
    postForm(`${org.issuer}/introspect`, { token: tokens.accessToken, ...credentials(org.web) });

  test("responds 503 with Retry-After where the database is needed, and recovers", async () => {
    const grant = await source.code();
    await proxy.cut();
    clock.advance(60_000);
    unavailable(await refresh(org, tokens.refreshToken));
    const code = { grant_type: "authorization_code", code: grant.code, code_verifier: grant.verifier };
    unavailable(await postForm(`${org.issuer}/token`, { ...code, ...credentials(org.web) }));
    unavailable(await introspect());
    unavailable(
      await postForm(`${org.issuer}/revoke`, { token: tokens.refreshToken, ...credentials(org.web) }),
    );
    const bearer = { authorization: `Bearer ${tokens.accessToken}` };
    unavailable(await sendRaw(`${org.issuer}/userinfo`, { headers: bearer }));
    const preflight = { method: "OPTIONS", headers: { origin: "https://app.example" } };
    unavailable(await sendRaw(`${org.issuer}/token`, preflight));

    await proxy.restore();
    await eventually("works again", async () => (await introspect()).status === 200);
    const redeemed = await postForm(`${org.issuer}/token`, { ...code, ...credentials(org.web) });
    assert.equal(redeemed.status, 200, "the code was not burnt");
    assert.equal((await refresh(org, tokens.refreshToken)).status, 200, "nor the refresh token");
  });

  test("serves discovery and JWKS throughout", async () => {
    await proxy.cut();
    for (const minutes of [0, 1, 600]) {
      clock.advance(minutes * 60_000);
      for (const address of documents()) {
        for (const init of [{}, { method: "HEAD" }]) {
          const { status, headers } = await sendRaw(address, init);
          assert.equal(status, 200, `${address} after ${minutes} min`);
          const tag = { "if-none-match": headers.get("etag") ?? "" };
          assert.equal((await sendRaw(address, { ...init, headers: tag })).status, 304);
        }
      }
    }
    const never = org.issuer.replace(org.organisation.id, "0197b0a0-0000-7000-8000-000000000000");
    const unknown = await sendRaw(`${never}/.well-known/openid-configuration`, {});
    assert.equal(unknown.status, 503, "what was never served cannot be");
    assert.ok(unknown.headers.has("retry-after"));
    await proxy.restore();
  });

  test("connections closed under load cost at most a 503 each, and no tokens", async () => {
    let refreshToken = (await source.tokens({ scope: "openid offline_access" })).refreshToken;
    const admin = await killer(database.url);
    const statuses = new Map<number, number>();
    const hits = () => statuses.get(503) ?? 0;
    for (let time = 0; time < 150 || (hits() === 0 && time < 3_000); time++) {
      // Not waited for: it comes while a refresh is under way, or between two.
      if (time % 8 === 0) admin.kill();
      const answer = await refresh(org, refreshToken);
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      if (answer.status === 200) refreshToken = String(answer.body["refresh_token"]);
      else unavailable(answer);
    }
    await admin.stop();
    assert.ok(hits() > 0, "some were hit");
    assert.ok((statuses.get(200) ?? 0) > 20, `${[...statuses]}`);
    await eventually("works again", async () => (await refresh(org, refreshToken)).status === 200);
  });

  test("listeners reconnect, so that caches are notified again", async () => {
    await proxy.cut();
    await proxy.restore();
    const { query } = running.service.database;
    const listeners = async () => {
      const { rows } = await sql<{ count: number }>`select count(*)::int as count from pg_stat_activity
        where datname = current_database() and query like 'listen %'`.execute(query);
      return rows[0]?.count;
    };
    await eventually("listens", () =>
      listeners().then(
        // Of the change feed, and of the calls that wake who waits for an agent.
        (count) => count === 2,
        () => false,
      ),
    );
  });
});

/** Ends every other connection of the database, but for the listener. */
async function killer(databaseUrl: string): Promise<{ kill(): void; stop(): Promise<void> }> {
  const { default: pg } = await import("pg");
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  let last: Promise<unknown> = Promise.resolve();
  return {
    kill: () => {
      last = client.query(`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and query not like 'listen %'`);
    },
    stop: async () => {
      await last;
      await client.end();
    },
  };
}
