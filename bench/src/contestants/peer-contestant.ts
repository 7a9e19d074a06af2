import { startChild } from "../child.ts";
import type { Call } from "../load/load-plan.ts";
import { type Contestant, seedSeconds, type Target } from "./contestant.ts";
import { peerClient, peerResource } from "./peer-client.ts";
import { codeVerifier, redirectUri, type SeedKind, type WorkName } from "./works.ts";

type Work = { call: Call; expectedText: string };

/** oidc-provider in one process with its in-memory adapter. */
export async function peerContestant(): Promise<Contestant> {
  const child = await startChild<{ kind: SeedKind; count: number }, string[]>("contestants/peer.ts", []);
  return {
    name: "peer",
    target: async (row): Promise<Target> => ({
      port: child.port,
      pids: [child.pid],
      ...peerWorks[row.name],
      seed: (kind, count) => child.ask({ kind, count }, seedSeconds),
    }),
  };
}

const post = (path: string, form: Record<string, string>): Call => ({
  method: "POST",
  path,
  form: { ...form, ...peerClient },
});

/** The peer's requests, row by row. */
export const peerWorks: Record<WorkName, Work> = {
  discovery: {
    call: { method: "GET", path: "/.well-known/openid-configuration" },
    expectedText: "token_endpoint",
  },
  jwks: { call: { method: "GET", path: "/jwks" }, expectedText: '"crv":"P-256"' },
  "client-credentials": {
    call: post("/token", { grant_type: "client_credentials", resource: peerResource }),
    expectedText: '"access_token":"eyJ',
  },
  "code-exchange": {
    call: post("/token", {
      grant_type: "authorization_code",
      redirect_uri: redirectUri,
      code_verifier: codeVerifier,
    }),
    expectedText: '"id_token":"eyJ',
  },
  refresh: { call: post("/token", { grant_type: "refresh_token" }), expectedText: '"access_token":"eyJ' },
  introspection: { call: post("/token/introspection", {}), expectedText: '"active":true' },
};
