/** The pool's other agents, by the keys that this machine's configuration has of them. */
import { createPublicKey, type KeyObject, type webcrypto } from "node:crypto";
import { type AgentAlg, defaultAgentAlg, fitsAgentAlg, isAgentAlg } from "@signet/protocol/agent-signature";
import { jwkThumbprint } from "@signet/protocol/jose/jwk";
import type { PublicKeyMembers } from "@signet/protocol/jose/jwk-members";
import type { Configuration } from "../configuration/configuration.ts";
import { type AgentKey, InvalidKey } from "../keys/key-source.ts";

export interface PeerKey {
  /** The agent's name in the configuration: keys of one name are one agent. */
  readonly agent: string;
  readonly publicKey: KeyObject;
  readonly alg: AgentAlg;
  /** What the policy's checks need of a key: this machine cannot sign with it. */
  readonly key: AgentKey;
}

export interface Peers {
  /** Approvals of a signature, the signing agent's among them. */
  readonly required: number;
  readonly byKid: ReadonlyMap<string, PeerKey>;
}

/** @throws InvalidKey for a key that is malformed, this machine's own, or of two agents; and for fewer agents than approvals need */
export function openPeers(
  { required, agents }: NonNullable<Configuration["approvals"]>,
  own: readonly AgentKey[],
): Peers {
  const byKid = new Map<string, PeerKey>();
  for (const { name, keys } of agents)
    for (const jwk of keys) {
      const peer = readKey(name, jwk);
      const { kid } = peer.key;
      if (own.some((key) => key.kid === kid))
        throw new InvalidKey(`approvals: ${kid} of ${name} is a key of this agent`);
      if (byKid.has(kid)) throw new InvalidKey(`approvals: ${kid} is listed twice`);
      byKid.set(kid, peer);
    }
  if (new Set(agents.map(({ name }) => name)).size < agents.length)
    throw new InvalidKey("approvals: two agents have the same name");
  if (agents.length < required - 1)
    throw new InvalidKey(`approvals: ${required} need at least ${required - 1} other agents`);
  return { required, byKid };
}

function readKey(agent: string, jwk: Readonly<Record<string, string>>): PeerKey {
  let publicKey: KeyObject;
  try {
    publicKey = createPublicKey({ key: jwk as webcrypto.JsonWebKey, format: "jwk" });
  } catch (error) {
    throw new InvalidKey(`approvals: a key of ${agent} is not a public JWK`, { cause: error });
  }
  if ("d" in jwk || "priv" in jwk)
    throw new InvalidKey(`approvals: a key of ${agent} is a private one: it is compromised`);
  const alg = jwk["alg"] ?? defaultAgentAlg(publicKey);
  if (!isAgentAlg(alg) || !fitsAgentAlg({ publicKey, alg }))
    throw new InvalidKey(`approvals: a key of ${agent} is not for ${alg ?? "any algorithm"}`);
  const publicJwk = publicKey.export({ format: "jwk" }) as PublicKeyMembers;
  const key: AgentKey = {
    ...{ kid: jwkThumbprint(publicJwk), alg, publicJwk, x5c: undefined, location: `agent ${agent}` },
    sign: () => Promise.reject(new Error("this machine does not have the key")),
    close: async () => {},
  };
  return { agent, publicKey, alg, key };
}
