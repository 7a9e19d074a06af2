/** A client that refreshes again and again, and remembers exactly what it was told before the server died. */
import assert from "node:assert/strict";
import {
  authorizationRequest,
  authorize,
  type TestBrowser,
} from "../../packages/server/src/testing/fakes/browser.ts";
import { postForm } from "../../packages/server/src/testing/fixtures/client.ts";
import type { Person } from "../journeys/sign-in-steps.ts";

export type ChainClient = { clientId: string; clientSecret: string; hasGrace: boolean };

export type Chain = {
  issuer: string;
  client: ChainClient;
  /** The refresh token of the last answer that arrived whole. */
  last: string;
  /** Whether `last` was sent and no answer came: the server may have rotated it or not. */
  isInFlight: boolean;
  /** Answers that arrived. */
  refreshes: number;
};

export type Refreshed = { status: number; error: unknown; token: string };

export const redirectUri = "http://127.0.0.1:8765/callback";

/**
 * The first refresh token of a new family, asked for in a browser. With a session nobody is asked anything; without a
 * `person` to sign in the session must be there.
 */
export async function firstToken(
  { issuer, client }: Pick<Chain, "issuer" | "client">,
  browser: TestBrowser,
  person?: Person,
): Promise<string> {
  const silent = person === undefined ? { prompt: "none" } : {};
  const { query, verifier } = authorizationRequest(client.clientId, redirectUri, silent);
  const answer = await authorize(browser, { issuer, query, ...(person ?? { email: "", password: "" }) });
  const code = answer.get("code");
  assert.ok(code, `no code: ${answer}`);
  const { status, body } = await postForm(`${issuer}/token`, {
    grant_type: "authorization_code",
    code,
    code_verifier: verifier,
    redirect_uri: redirectUri,
    client_id: client.clientId,
    client_secret: client.clientSecret,
  });
  assert.equal(status, 200, JSON.stringify(body));
  return String(body["refresh_token"]);
}

export async function presentToken({ issuer, client }: Chain, token: string): Promise<Refreshed> {
  const { status, body } = await postForm(`${issuer}/token`, {
    grant_type: "refresh_token",
    refresh_token: token,
    client_id: client.clientId,
    client_secret: client.clientSecret,
  });
  return { status, error: body["error"], token: String(body["refresh_token"]) };
}

/** Presents a token that must be valid, and continues the chain with its successor. */
export async function refreshChain(chain: Chain): Promise<void> {
  const { status, error, token } = await presentToken(chain, chain.last);
  assert.equal(status, 200, `the living token was refused: ${error}`);
  chain.last = token;
  chain.isInFlight = false;
  chain.refreshes += 1;
}

/** Refreshes until the server is gone; any error response fails. */
export async function refreshUntilGone(chain: Chain): Promise<void> {
  for (;;) {
    chain.isInFlight = true;
    try {
      await refreshChain(chain);
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
      // A refused connection has sent nothing.
      const { cause } = error as { cause?: { code?: string } };
      if (cause?.code === "ECONNREFUSED") chain.isInFlight = false;
      return;
    }
  }
}
