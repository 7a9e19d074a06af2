/** An agent's key as a JWKS shows it (RFC 7517 §4): public members alone. */
import { hash } from "node:crypto";
import type { AgentKey } from "./agent-key.ts";

export interface PublishedAgentJwk extends Readonly<Record<string, unknown>> {
  readonly kid: string;
  readonly use: "sig";
}

export function publishedJwk({ publicJwk, kid, alg, x5c }: AgentKey): PublishedAgentJwk {
  const [leaf] = x5c;
  return {
    ...publicJwk,
    kid,
    use: "sig",
    alg,
    ...(leaf === undefined
      ? {}
      : { x5c, "x5t#S256": hash("sha256", Buffer.from(leaf, "base64"), "base64url") }),
  };
}
