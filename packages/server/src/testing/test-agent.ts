/**
 * A signing agent of a test: its keys are made here, it calls the agent endpoints over HTTP, and signs what it claims,
 * as it stands. Where the checks of a real agent matter, `packages/signing-agent` is tested.
 */
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { type AgentAlg, agentAlgorithms } from "@signet/protocol/agent-signature";
import { jwkThumbprint } from "@signet/protocol/jwk";
import type { SigningPool } from "../core/signing-pools/signing-pool.ts";
import { poolAddress } from "../core/signing-pools/signing-pool.ts";
import { addAgentKeys, registerAgent } from "../features/sovereign/agents.ts";
import { createPool, type NewPool } from "../features/sovereign/pools.ts";
import type { Service } from "../open-service.ts";
import type { Answer } from "./test-client.ts";
import type { TestOrganisation } from "./test-service.ts";

export interface TestAgentKey {
  readonly kid: string;
  readonly alg: AgentAlg;
  readonly privateKey: KeyObject;
  readonly publicJwk: Readonly<Record<string, unknown>>;
}

export interface Claimed {
  readonly requestId: string;
  readonly leaseToken: string;
  readonly interactive: boolean;
  readonly context: Readonly<Record<string, unknown>>;
  readonly tokens: ReadonlyArray<{
    readonly use: "access_token" | "id_token";
    readonly kid: string;
    readonly alg: AgentAlg;
    readonly protected: string;
    readonly payload: string;
  }>;
}

export interface TestAgent {
  readonly agentId: string;
  readonly poolId: string;
  readonly apiKey: string;
  readonly keys: readonly TestAgentKey[];
  /** @param name `queue?wait=1`, `claim`, `sign`, `challenge` or `reject`; with a body it is a POST */
  call(name: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** The oldest that waits, or the one that is named. @returns undefined when there is none */
  claim(more?: { requestId?: string; wait?: number }): Promise<Claimed | undefined>;
  /** What the tokens become when they are signed. */
  signatures(claimed: Pick<Claimed, "tokens">): Record<string, string>;
  sign(claimed: Claimed): Promise<Answer>;
  reject(claimed: Claimed, reason: string, retryable?: boolean): Promise<Answer>;
  challenge(claimed: Claimed, more?: Record<string, unknown>): Promise<Answer>;
  /**
   * Claims and signs until it is stopped.
   * @param decide what is done with a claimed request; it is signed when left out
   */
  serve(decide?: (claimed: Claimed) => Promise<unknown>): { stop(): Promise<void> };
}

/**
 * @param more.tokenWaitSeconds also 0: for what nobody is to wait for in a test
 * @returns a pool that signs ES256, tokens for an hour at most, and whose new keys sign at once
 */
export async function makePool(
  service: Service,
  org: Pick<TestOrganisation, "organisation">,
  { tokenWaitSeconds, ...more }: Partial<NewPool> & { readonly tokenWaitSeconds?: number } = {},
): Promise<SigningPool> {
  const pool = await createPool(adminDeps(service), acting(org), {
    name: "Pool",
    algs: ["ES256"],
    maxTokenLifetimeSeconds: 3600,
    keyPublishDelaySeconds: 0,
    ...more,
  });
  if (tokenWaitSeconds === undefined) return pool;
  await setTokenWait(service, pool, tokenWaitSeconds);
  return { ...pool, tokenWaitSeconds };
}

/** How long the token endpoint waits for an agent. */
export async function setTokenWait(
  { database, changes }: Service,
  { orgId, id }: SigningPool,
  seconds: number,
): Promise<void> {
  await database.transaction(async (tx) => {
    await tx
      .updateTable("signing_pool")
      .set({ token_wait_seconds: seconds })
      .where("org_id", "=", orgId)
      .where("id", "=", id)
      .execute();
    await changes.publish(tx, { orgId, topic: "signing-pool" });
  });
}

export interface TestAgentOptions {
  readonly algs?: readonly AgentAlg[];
  readonly baseUrl?: string;
  /** @returns the key's certificates, as x5c has them */
  readonly certify?: (key: TestAgentKey) => readonly string[];
}

/** Registered, but not seen yet: without a browser nothing is queued before its first call. */
export async function makeAgent(
  service: Service,
  org: Pick<TestOrganisation, "organisation">,
  pool: SigningPool,
  options: TestAgentOptions = {},
): Promise<TestAgent> {
  const keys = (options.algs ?? pool.algs.slice(0, 1)).map(newAgentKey);
  const presented = keys.map((key) => ({
    ...presentedKey(service, pool, key),
    ...(options.certify ? { x5c: options.certify(key) } : {}),
  }));
  const { agent, apiKey } = await registerAgent(adminDeps(service), acting(org), {
    poolId: pool.id,
    name: "Agent",
    keys: presented,
  });
  const baseUrl = options.baseUrl ?? service.config.baseUrl;
  return testAgent({ agentId: agent.id, poolId: pool.id, apiKey, keys }, `${baseUrl}/oauth/${pool.orgId}`);
}

/** As an agent key is presented at registration, with the proof that whoever presents it has it. */
export function presentedKey(service: Service, pool: SigningPool, { publicJwk, ...key }: TestAgentKey) {
  const iat = Math.floor(service.clock() / 1000);
  const aud = poolAddress(service.config.baseUrl, pool);
  const header = encoded({ alg: key.alg, typ: "sovereign-pop+jwt" });
  const payload = encoded({ aud, jkt: key.kid, iat });
  return { jwk: publicJwk, pop: signedWith(key, `${header}.${payload}`) };
}

/** Added to an agent that is there. */
export async function addKey(
  service: Service,
  org: Pick<TestOrganisation, "organisation">,
  { pool, agentId }: { readonly pool: SigningPool; readonly agentId: string },
  key: TestAgentKey,
): Promise<void> {
  await addAgentKeys(adminDeps(service), acting(org), {
    agentId,
    keys: [presentedKey(service, pool, key)],
  });
}

export function newAgentKey(alg: AgentAlg): TestAgentKey {
  const { publicKey, privateKey } = keyPairFor(alg);
  const jwk = publicKey.export({ format: "jwk" });
  return { kid: jwkThumbprint(jwk), alg, privateKey, publicJwk: { ...jwk, alg } };
}

/** A compact JWS of `protected.payload`. */
export function signedWith(
  { alg, privateKey }: Pick<TestAgentKey, "alg" | "privateKey">,
  input: string,
): string {
  const { digest, options } = agentAlgorithms[alg];
  return `${input}.${sign(digest, Buffer.from(input), { key: privateKey, ...options }).toString("base64url")}`;
}

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

const adminDeps = (service: Service) => ({ ...service, baseUrl: service.config.baseUrl });

const acting = ({ organisation }: Pick<TestOrganisation, "organisation">) => ({
  orgId: organisation.id,
  actor: "test",
});

function keyPairFor(alg: AgentAlg): { publicKey: KeyObject; privateKey: KeyObject } {
  switch (alg) {
    case "ES256":
      return generateKeyPairSync("ec", { namedCurve: "P-256" });
    case "ES384":
      return generateKeyPairSync("ec", { namedCurve: "P-384" });
    case "EdDSA":
      return generateKeyPairSync("ed25519");
    default:
      return generateKeyPairSync("rsa", { modulusLength: 2048 });
  }
}

type Identity = Pick<TestAgent, "agentId" | "poolId" | "apiKey" | "keys">;

/** @param issuer the organisation's */
export function testAgent(identity: Identity, issuer: string): TestAgent {
  const { keys, apiKey } = identity;
  const post = (name: string, body?: unknown, headers: Record<string, string> = {}, signal?: AbortSignal) =>
    callAgentEndpoint(`${issuer}/sovereign/agent/${name}`, {
      body,
      headers: { authorization: `Bearer ${apiKey}`, ...headers },
      signal,
    });
  const claim = async (more: { requestId?: string; wait?: number } = {}, signal?: AbortSignal) => {
    const { status, body } = await post("claim", { kids: keys.map(({ kid }) => kid), ...more }, {}, signal);
    if (status === 204) return undefined;
    if (status !== 200) throw new Error(`no claim: ${status} ${JSON.stringify(body)}`);
    return body as unknown as Claimed;
  };
  const signatures = ({ tokens }: Pick<Claimed, "tokens">) =>
    Object.fromEntries(tokens.map((token) => [token.use, signedToken(keys, token)]));
  const lease = ({ requestId, leaseToken }: Claimed) => ({ requestId, leaseToken });
  const signIt = (claimed: Claimed) => post("sign", { ...lease(claimed), jwts: signatures(claimed) });
  return {
    ...identity,
    call: (name, body, headers) => post(name, body, headers),
    claim: (more) => claim(more),
    signatures,
    sign: signIt,
    reject: (claimed, reason, retryable = false) => post("reject", { ...lease(claimed), reason, retryable }),
    challenge: (claimed, more = {}) =>
      post("challenge", {
        ...lease(claimed),
        challengeId: "c-1",
        type: "confirm",
        prompt: "Is it you?",
        ttl: 60,
        ...more,
      }),
    serve: (decide = signIt) => {
      const stopped = new AbortController();
      const running = serveUntil(stopped.signal, claim, decide);
      return {
        stop: async () => {
          stopped.abort();
          await running;
        },
      };
    },
  };
}

function signedToken(keys: readonly TestAgentKey[], token: Claimed["tokens"][number]): string {
  const key = keys.find(({ kid }) => kid === token.kid);
  if (!key) throw new Error("the token is for another agent's key");
  return signedWith(key, `${token.protected}.${token.payload}`);
}

async function serveUntil(
  signal: AbortSignal,
  claim: (more: { wait?: number }, signal: AbortSignal) => Promise<Claimed | undefined>,
  decide: (claimed: Claimed) => Promise<unknown>,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const claimed = await claim({ wait: 25 }, signal);
      if (claimed) await decide(claimed);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}

async function callAgentEndpoint(
  url: string,
  {
    body,
    headers,
    signal,
  }: { body: unknown; headers: Record<string, string>; signal: AbortSignal | undefined },
): Promise<Answer> {
  const response = await fetch(url, {
    headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
    ...(body === undefined
      ? {}
      : { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body) }),
    ...(signal ? { signal } : {}),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text === "" ? {} : (JSON.parse(text) as Record<string, unknown>),
  };
}
