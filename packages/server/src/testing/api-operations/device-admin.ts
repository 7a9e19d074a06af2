/** Device administration by API: the same five cases for each call, whose refusals have the form of OAuth. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { enrolledByCode } from "../fixtures/enrolments.ts";
import { type ApiAnswer, callApi, type TestAccount } from "../fixtures/system-account.ts";
import type { ApiCase, ApiCases, ApiWorld } from "./api-operation.ts";

interface Asked {
  /** Below `devices/manage/{org}`, query included. */
  readonly path: string;
  readonly body?: unknown;
}

type Method = "GET" | "POST";

const call = (
  { a, baseUrl, clock }: ApiWorld,
  method: Method,
  by: TestAccount | undefined,
  { path, body }: Asked,
): Promise<ApiAnswer> =>
  callApi(`${baseUrl}/devices/manage/${a.organisation.id}${path}`, by, {
    method,
    strictAt: clock(),
    headers: { accept: "application/json" },
    ...(body === undefined ? {} : { body }),
  });

function caseOf(
  method: Method,
  status: number,
  asked: (world: ApiWorld) => Promise<Asked>,
  wrong: readonly Partial<Asked>[],
): ApiCase {
  const refused = (answer: ApiAnswer, expected: number, error: string) => {
    assert.equal(answer.status, expected, answer.text);
    assert.equal(answer.body["error"], error);
    assert.equal(typeof answer.body["error_description"], "string");
    assert.equal(answer.headers.get("cache-control"), "no-store");
  };
  return {
    happy: async (world) => {
      const answer = await call(world, method, world.administratorOfA, await asked(world));
      assert.equal(answer.status, status, answer.text);
    },
    unauthenticated: async (world) => {
      const known = await asked(world);
      refused(await call(world, method, undefined, known), 401, "invalid_client");
      const stranger = { ...world.administratorOfA, secret: "sgn_sa_x" };
      refused(await call(world, method, stranger, known), 401, "invalid_client");
    },
    foreign: async (world) =>
      refused(await call(world, method, world.administratorOfB, await asked(world)), 404, "not_found"),
    forbidden: async (world) =>
      refused(await call(world, method, world.plainOfA, await asked(world)), 401, "invalid_client"),
    malformed: async (world) => {
      for (const { path, body } of wrong) {
        const known = await asked(world);
        const sent = { path: path ?? known.path, ...(body === undefined ? {} : { body }) };
        refused(await call(world, method, world.administratorOfA, sent), 400, "invalid_request");
      }
    },
  };
}

const deviceOf = async ({ service, a }: ApiWorld) => (await enrolledByCode(service, a.issuer)).deviceId;

async function codeOf(world: ApiWorld): Promise<string> {
  const asked = { path: "/register", body: {} };
  const { body } = await call(world, "POST", world.administratorOfA, asked);
  return String(body["id"]);
}

const MANAGE = "/devices/manage/:org";

export const deviceAdminCases: ApiCases = {
  [`GET ${MANAGE}`]: caseOf(
    "GET",
    200,
    async (world) => {
      await deviceOf(world);
      return { path: "?search=0&state=active" };
    },
    [{ path: "?state=odd" }, { path: "?more=1" }, { path: "?limit=0" }, { path: "?cursor=x" }],
  ),
  [`POST ${MANAGE}/register`]: caseOf(
    "POST",
    201,
    async (world) => ({
      path: "/register",
      body: { name: "Till", attestation: "required", expiresIn: 600, replaces: await deviceOf(world) },
    }),
    [
      undefined,
      [],
      "{",
      { more: 1 },
      { name: "" },
      { name: "x".repeat(101) },
      { attestation: "perhaps" },
      { expiresIn: 599 },
      { expiresIn: 604_801 },
      { expiresIn: 700.5 },
      { replaces: randomUUID() },
      { replaces: "x" },
    ].map((body) => ({ body })),
  ),
  [`POST ${MANAGE}/:id/revoke`]: caseOf(
    "POST",
    204,
    async (world) => ({
      path: `/${await deviceOf(world)}/revoke`,
      body: { reason: "cessationOfOperation" },
    }),
    [[], "{", { reason: "odd" }, { more: 1 }].map((body) => ({ body })),
  ),
  [`POST ${MANAGE}/codes/:id/withdraw`]: caseOf(
    "POST",
    204,
    async (world) => ({ path: `/codes/${await codeOf(world)}/withdraw` }),
    [{ body: {} }],
  ),
  [`GET ${MANAGE}/policy`]: caseOf("GET", 200, async () => ({ path: "/policy" }), [
    { body: undefined, path: "/policy?%" },
  ]),
  [`POST ${MANAGE}/policy`]: caseOf(
    "POST",
    200,
    async () => ({ path: "/policy", body: { attestation: "optional", ekTrust: "chain" } }),
    [undefined, [], { attestation: "odd" }, { ekTrust: "odd" }, { more: 1 }].map((body) => ({ body })),
  ),
};
