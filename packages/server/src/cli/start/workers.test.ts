/** `SIGNET_WORKERS=2` on one PostgreSQL, as programs: one service on one port, whatever becomes of one of its processes. */
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { runProgram } from "../../testing/command-line.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { eventually } from "../../testing/eventually.ts";
import { authorizationRequest, authorize, testBrowser } from "../../testing/fakes/browser.ts";
import { postForm } from "../../testing/fixtures/client.ts";
import { selfSigned } from "../../testing/fixtures/self-signed.ts";
import { type StartedProgram, startSignet } from "../../testing/started-program.ts";
import { mtlsClient, type TestListeners, testListeners } from "../../testing/test-listeners.ts";
import type { DemoFile } from "../demo/demo-file.ts";

forEachDatabase(({ name, fresh }) => {
  if (name === "sqlite") {
    test("several workers are refused on SQLite at once, with the reason", async () => {
      const folder = await mkdtemp(path.join(os.tmpdir(), "signet-workers-"));
      const { code, err } = await runProgram(["start"], { SIGNET_DATA_DIR: folder, SIGNET_WORKERS: "2" });
      await rm(folder, { recursive: true, force: true });
      assert.notEqual(code, 0);
      assert.match(err, /SIGNET_WORKERS .*needs PostgreSQL .*SQLite/);
    });
    return;
  }

  let folder: string;
  let server: StartedProgram;
  let demo: DemoFile;
  let listeners: TestListeners;
  before(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), "signet-workers-"));
    listeners = await testListeners();
    const env = {
      ...listeners.env,
      SIGNET_DATA_DIR: folder,
      DATABASE_URL: await fresh(),
      SIGNET_WORKERS: "2",
      SIGNET_DRAIN_SECONDS: "2",
    };
    server = await startSignet(["--demo"], env);
    await eventually("all workers are ready", () => /Signet is ready/.test(server.out()), 60_000);
    demo = JSON.parse(await readFile(path.join(folder, "demo.json"), "utf8")) as DemoFile;
  });
  after(async () => {
    server.kill();
    await listeners.remove();
    await rm(folder, { recursive: true, force: true });
  });

  const lines = () => server.logLines().map((line) => JSON.parse(line) as Record<string, unknown>);
  // Each on a connection of its own, which the workers take from one queue.
  const ask = () => {
    const { clientId, clientSecret } = demo.serviceApp;
    const form = { grant_type: "client_credentials", client_id: clientId, client_secret: clientSecret };
    return postForm(`${demo.issuer}/token`, form, { connection: "close" });
  };
  /** @param since how many lines the log had */
  const workersOf = (route: RegExp, since = 0) =>
    new Set(
      lines()
        .slice(since)
        .flatMap(({ msg, route: at, worker }) =>
          msg === "request" && route.test(String(at)) ? [worker] : [],
        ),
    );

  test("both serve, each line of the log says which, and the service is ready once", async () => {
    await eventually("both have served", async () => {
      const answers = await Promise.all(Array.from({ length: 8 }, ask));
      assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
      return workersOf(/token/).size === 2;
    });
    // The first process hears a little later than the callers that the last worker serves.
    const ready = () => lines().filter(({ msg, worker }) => msg === "ready" && worker === undefined);
    await eventually("the service is ready", async () => ready().length > 0);
    assert.deepEqual(
      ready().map(({ workers }) => workers),
      [2],
    );
    await eventually("the greeting is printed", async () => server.out().includes("Signet is ready"));
    assert.equal(server.out().match(/Signet is ready/g)?.length, 1);
    for (const at of ["/livez", "/readyz", "/readyz?require=database", "/demo/mailbox", "/demo/try"])
      assert.equal((await fetch(server.baseUrl + at, { redirect: "follow" })).status, 200, at);
  });

  test("a token revoked at one worker is revoked at the other", async () => {
    const { clientId, clientSecret } = demo.serviceApp;
    const proof = { client_id: clientId, client_secret: clientSecret };
    const token = String((await ask()).body["access_token"]);
    const isActive = async () => {
      const answer = await postForm(
        `${demo.issuer}/introspect`,
        { token, ...proof },
        { connection: "close" },
      );
      return answer.body["active"];
    };
    const seen = async (count: number) => new Set(await Promise.all(Array.from({ length: count }, isActive)));
    assert.deepEqual([...(await seen(8))], [true]);
    await postForm(`${demo.issuer}/revoke`, { token, ...proof }, { connection: "close" });
    assert.deepEqual([...(await seen(8))], [false]);
  });

  test("a refresh token that both workers are shown at once has one successor, over and over", async () => {
    const { clientId, clientSecret, redirectUris } = demo.webApp;
    const proof = { client_id: clientId, client_secret: clientSecret };
    const [redirectUri = ""] = redirectUris;
    const request = authorizationRequest(clientId, redirectUri, { scope: "openid offline_access" });
    const code = (
      await authorize(testBrowser(), { issuer: demo.issuer, query: request.query, ...demo.user })
    ).get("code");
    const redeemed = await postForm(`${demo.issuer}/token`, {
      ...{ grant_type: "authorization_code", code: code ?? "", code_verifier: request.verifier },
      ...{ redirect_uri: redirectUri, ...proof },
    });
    let current = String(redeemed.body["refresh_token"]);
    const refresh = () =>
      postForm(
        `${demo.issuer}/token`,
        { grant_type: "refresh_token", refresh_token: current, ...proof },
        { connection: "close" },
      );
    const since = lines().length;
    await eventually("both have refreshed", async () => {
      const answers = await Promise.all(Array.from({ length: 12 }, refresh));
      assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
      const successors = [...new Set(answers.map(({ body }) => String(body["refresh_token"])))];
      assert.equal(successors.length, 1);
      assert.notEqual(successors[0], current);
      current = successors[0] ?? "";
      return workersOf(/token/, since).size === 2;
    });
  });

  test("both take connections of the listener for certificates", async () => {
    const shown = selfSigned();
    const { clientId, clientSecret } = demo.serviceApp;
    const form = { grant_type: "client_credentials", client_id: clientId, client_secret: clientSecret };
    const askByCertificate = async () => {
      const client = mtlsClient(listeners, { certificate: shown.cert, key: shown.key });
      const { status } = await client.post(`${new URL(demo.issuer).pathname}/token`, form);
      client.close();
      return status;
    };
    const since = lines().length;
    await eventually("both have served it", async () => {
      const answers = await Promise.all(Array.from({ length: 8 }, askByCertificate));
      assert.deepEqual([...new Set(answers)], [200]);
      return workersOf(/token/, since).size === 2;
    });
  });

  test("a killed worker is replaced, and no request of the other one is lost", async () => {
    const pids = await workerPids(server.pid);
    assert.equal(pids.length, 2);
    let isOver = false;
    const tally = { answered: 0, cut: 0 };
    const load = Promise.all(
      Array.from({ length: 6 }, async () => {
        while (!isOver) {
          const answer = await ask().catch(() => undefined);
          if (answer) assert.equal(answer.status, 200);
          tally[answer ? "answered" : "cut"] += 1;
        }
      }),
    );
    await eventually("the load is on", () => tally.answered > 20);
    process.kill(pids[0] ?? 0, "SIGKILL");
    const before = tally.answered;
    await eventually(
      "another serves",
      async () =>
        (await workerPids(server.pid)).length === 2 &&
        lines().filter(({ msg }) => msg === "ready").length === 4,
      60_000,
    );
    isOver = true;
    await load;
    assert.ok(tally.answered > before, "the other one went on");
    // At most what was under way in the killed one.
    assert.ok(tally.cut <= 6, JSON.stringify(tally));
    assert.ok(
      lines().some(
        ({ msg, signal }) => msg === "a worker has ended: another is started" && signal === "SIGKILL",
      ),
    );
  });

  test("a stop under load finishes what is under way, cuts nothing and exits with 0", async () => {
    let answered = 0;
    let isOut = false;
    const load = Promise.all(
      Array.from({ length: 6 }, async () => {
        while (!isOut) {
          assert.equal((await ask()).status, 200);
          answered += 1;
        }
      }),
    );
    await eventually("the load is on", () => answered > 20);
    const stopped = server.stop();
    // As a load balancer does: it takes a node out that says so.
    await eventually(
      "it says that it stops",
      async () => (await fetch(`${server.baseUrl}/readyz`)).status === 503,
    );
    isOut = true;
    await load;
    const { code, milliseconds } = await stopped;
    assert.equal(code, 0, server.err());
    assert.ok(milliseconds < 30_000, `${milliseconds}`);
    assert.equal(lines().at(-1)?.["msg"], "stopped");
    assert.deepEqual(await workerPids(server.pid), []);
  });
});

async function workerPids(primary: number): Promise<number[]> {
  const text = await readFile(`/proc/${primary}/task/${primary}/children`, "utf8").catch(() => "");
  return text.split(" ").filter(Boolean).map(Number);
}
