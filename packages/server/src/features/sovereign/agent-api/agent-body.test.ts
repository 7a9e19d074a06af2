import assert from "node:assert/strict";
import { test } from "node:test";
import type { FastifyRequest } from "fastify";
import { ApiError } from "../../../http/api/api-error.ts";
import { bodyReader, challengeBody, claimBody, rejectBody, signBody } from "./agent-body.ts";

test("names unknown members in every agent body", () => {
  const lease = { requestId: "r", leaseToken: "t" };
  const bodies = [
    [claimBody, { kids: ["k"] }],
    [signBody, { ...lease, jwt: "x" }],
    [challengeBody, { ...lease, challengeId: "c", type: "confirm", prompt: "?", ttl: 60 }],
    [rejectBody, { ...lease, reason: "policy_denied" }],
  ] as const;
  for (const [schema, body] of bodies) {
    const read = bodyReader(schema);
    const sent = (more: object) =>
      ({ body: Buffer.from(JSON.stringify({ ...body, ...more })) }) as unknown as FastifyRequest;
    assert.deepEqual(read(sent({})), body);
    assert.throws(
      () => read(sent({ retriable: true })),
      (error) => error instanceof ApiError && error.errors?.[0]?.path === "/retriable",
      JSON.stringify(body),
    );
  }
});
