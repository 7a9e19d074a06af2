import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import Fastify, { type FastifyInstance } from "fastify";
import { keepRawQuery } from "../../http/form-body.ts";
import { healthRoutes } from "./health.route.ts";

const ANSWERED_MS = 250;

describe("health checks", () => {
  let app: FastifyInstance;
  let pings = 0;
  let ping: () => Promise<void>;
  let stuckMs: number;
  let isDraining: boolean;
  let replica: { state(): "ok" | "behind" | "away" | "other" } | undefined;
  before(() => {
    app = Fastify({ routerOptions: { querystringParser: keepRawQuery } });
    healthRoutes(app, {
      ping: () => {
        pings += 1;
        return ping();
      },
      stuckFor: () => stuckMs,
      isDraining: () => isDraining,
      get replica() {
        return replica;
      },
    });
  });
  beforeEach(() => {
    ping = async () => {};
    stuckMs = 0;
    isDraining = false;
    replica = undefined;
  });
  after(() => app.close());

  const get = async (url: string) => {
    const { statusCode, headers, body } = await app.inject({ url });
    assert.equal(headers["cache-control"], "no-store");
    return [statusCode, JSON.parse(body)] as const;
  };
  const timed = async (url: string) => {
    const began = performance.now();
    const answer = await get(url);
    return { answer, milliseconds: performance.now() - began };
  };

  test("/readyz tells whether the database is there, and is 503 only for those who require it", async () => {
    assert.deepEqual(await get("/readyz"), [200, { status: "ready", database: "ok" }]);
    assert.deepEqual(await get("/readyz?require=database"), [200, { status: "ready", database: "ok" }]);
    ping = async () => {
      throw new Error("away");
    };
    assert.deepEqual(await get("/readyz"), [200, { status: "ready", database: "away" }]);
    const [status, { database }] = await get("/readyz?require=database");
    assert.deepEqual([status, database], [503, "away"]);
    isDraining = true;
    assert.deepEqual(await get("/readyz"), [503, { status: "draining" }]);
  });

  test("/readyz tells of a replica, and is ready without it", async () => {
    for (const state of ["ok", "behind", "away", "other"] as const) {
      replica = { state: () => state };
      assert.deepEqual(await get("/readyz"), [200, { status: "ready", database: "ok", replica: state }]);
      assert.equal((await get("/readyz?require=database"))[0], 200);
    }
  });

  test("/readyz rejects what it can't require: a misspelt probe would pass while the database is away", async () => {
    const [status] = await get("/readyz?require=databse");
    assert.equal(status, 422);
  });

  test("/readyz does not wait for a database that says nothing, and asks it once", async () => {
    const { promise: never, resolve: end } = Promise.withResolvers<void>();
    ping = () => never;
    pings = 0;
    // What this machine needs for any answer is not what is measured.
    const { milliseconds: usual } = await timed("/livez");
    for (let time = 0; time < 3; time++) {
      const { answer, milliseconds } = await timed("/readyz");
      assert.deepEqual(answer, [200, { status: "ready", database: "away" }]);
      assert.ok(milliseconds < ANSWERED_MS + 10 * usual + 100, `${milliseconds} ms`);
    }
    assert.equal(pings, 1);
    end();
    await never;
    assert.deepEqual((await get("/readyz"))[1], { status: "ready", database: "ok" });
  });

  test("/livez and /healthz report a connection that nobody gives back", async () => {
    for (const url of ["/livez", "/healthz"]) {
      stuckMs = 9_000;
      assert.deepEqual(await get(url), [200, { status: "ok" }]);
      stuckMs = 11_000;
      assert.deepEqual(await get(url), [503, { status: "stuck" }]);
    }
  });

  test("they know nothing of a database that is away", async () => {
    ping = async () => {
      throw new Error("away");
    };
    assert.deepEqual(await get("/livez"), [200, { status: "ok" }]);
  });
});
