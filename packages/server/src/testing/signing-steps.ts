/** The steps of a signing request as its tests take them, each expected to succeed. */
import assert from "node:assert/strict";
import { sql } from "kysely";
import type {
  ClaimedRequest,
  NewSigningRequest,
  ReleasedTokens,
  SignOutcome,
} from "../features/sovereign/request-messages.ts";
import type { RenderedToken } from "../features/sovereign/signing-request.ts";
import type { SigningStage, SoftAgent } from "./signing-stage.ts";

export interface SigningSteps {
  create(more?: Partial<NewSigningRequest>): Promise<string>;
  claimed(requestId: string, by?: SoftAgent): Promise<ClaimedRequest>;
  sign(held: ClaimedRequest, by?: SoftAgent): Promise<SignOutcome>;
  /** The state, and why it failed. */
  stateOf(requestId: string): Promise<readonly [string, string | null] | undefined>;
  /** As it stands in the database. */
  rowOf(requestId: string): Promise<Record<string, unknown>>;
  release(requestId: string, waiter?: string): Promise<ReleasedTokens | undefined>;
}

/** What `create` takes for a browser that waits. */
export const withBrowser = { interactive: true, grantType: "authorization_code" } as const;

export const SECOND = 1_000;

/** @param agent does what no other agent is named for */
export function signingSteps(stage: SigningStage, agent: SoftAgent): SigningSteps {
  const { requests, orgId, database } = stage;
  return {
    create: async (more) => {
      await agent.seen();
      const made = await requests.create(stage.newRequest(more));
      if (typeof made === "string") throw new Error(made);
      return made.requestId;
    },
    claimed: async (requestId, by = agent) => {
      const { outcome, ...claim } = await requests.claim(by.caller, { requestId, kids: [by.kid] });
      assert.equal(outcome, "claimed");
      return claim as ClaimedRequest;
    },
    sign: ({ requestId, leaseToken, tokens }, by = agent) =>
      requests.sign(by.caller, { requestId, leaseToken, jwts: by.signed(tokens) }),
    stateOf: async (requestId) => {
      const status = await requests.status(orgId, requestId);
      return status && [status.state, status.failReason];
    },
    rowOf: async (requestId) => {
      const { rows } = await sql<
        Record<string, unknown>
      >`select * from signing_request where id = ${requestId}`.execute(database.query);
      return rows[0] ?? {};
    },
    release: (requestId, waiter) =>
      requests.release(database.query, { orgId, requestId, ...(waiter === undefined ? {} : { waiter }) }),
  };
}

const decoded = (segment = "") =>
  JSON.parse(Buffer.from(segment, "base64url").toString()) as Record<string, unknown>;

export const payloadOf = (token: RenderedToken | undefined) => decoded(token?.payload);
export const headerOf = (token: RenderedToken | undefined) => decoded(token?.protected);
