// A handler that throws after its response fails the test of its own server only.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type FastifyInstance, fastify } from "fastify";
import { type LateErrors, watchLateErrors } from "./late-errors.ts";

let app: FastifyInstance;
let other: FastifyInstance;
let late: LateErrors;
before(() => {
  app = fastify();
  other = fastify();
  for (const each of [app, other]) {
    each.get("/early", async () => {
      throw new Error("early");
    });
    each.get("/late", async (_, reply) => {
      await reply.send("answer");
      throw new Error("late");
    });
  }
  late = watchLateErrors(app.server);
});
after(async () => {
  late.end();
  await app.close();
  await other.close();
});

test("records errors thrown after the response, and none that became the response", async () => {
  for (const url of ["/early", "/late"]) await other.inject(url);
  assert.equal((await app.inject("/early")).statusCode, 500);
  assert.deepEqual(late.found(), []);
  assert.equal((await app.inject("/late")).body, "answer");
  assert.equal(late.found().length, 1);
  assert.match(late.found()[0] ?? "", /^GET \/late: Error: late/);
});

test("records nothing after end()", async () => {
  const before = late.found().length;
  late.end();
  await app.inject("/late");
  assert.equal(late.found().length, before);
});
