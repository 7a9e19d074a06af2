/** A pool with agents in software and the signing requests of one node, without a server around them. */
import { generateKeyPairSync, type KeyObject, randomUUID, sign } from "node:crypto";
import { type AgentAlg, agentAlgorithms } from "@signet/protocol/agent-signature";
import { jwkThumbprint } from "@signet/protocol/jwk";
import { createApplication } from "../core/applications/applications.ts";
import type { Clock } from "../core/clock.ts";
import { createEncryption, type Encryption } from "../core/encryption/encryption.ts";
import { createOrganisation } from "../core/organisations/organisations.ts";
import type { AgentKey } from "../core/signing-pools/agent-key.ts";
import { signingPoolDirectory } from "../core/signing-pools/directory.ts";
import { insertAgent, insertAgentKey, insertPool } from "../core/signing-pools/registration/store.ts";
import type { SigningPool } from "../core/signing-pools/signing-pool.ts";
import { noteAgentSeen } from "../core/signing-pools/store.ts";
import type { AccessTokenClaims, IdTokenClaims } from "../core/tokens/claims.ts";
import { type ChangeFeed, openChangeFeed } from "../db/change-feed.ts";
import { migrate } from "../db/migrate.ts";
import { type Database, openDatabase } from "../db/open.ts";
import type { AgentCaller, NewSigningRequest } from "../features/sovereign/request-messages.ts";
import type { RenderedToken } from "../features/sovereign/signing-request.ts";
import { openSovereignRequests, type SovereignRequests } from "../features/sovereign/sovereign-requests.ts";

export interface SigningStage {
  readonly database: Database;
  readonly encryption: Encryption;
  readonly orgId: string;
  readonly applicationId: string;
  readonly pool: SigningPool;
  readonly requests: SovereignRequests;
  /** One more pool in the same organisation. */
  addPool(settings?: Partial<SigningPool>): Promise<SigningPool>;
  addAgent(more?: { pool?: SigningPool; alg?: AgentAlg }): Promise<SoftAgent>;
  /** What `create` takes, with a client that speaks for itself and no browser. */
  newRequest(more?: Partial<NewSigningRequest>): NewSigningRequest;
  /** That a pool, an agent or a key was changed in the database. */
  tell(): Promise<void>;
  /** Another node on the same database. */
  addNode(clock?: Clock): Promise<SovereignRequests>;
  close(): Promise<void>;
}

export interface SoftAgent {
  readonly caller: AgentCaller;
  readonly kid: string;
  readonly alg: AgentAlg;
  readonly privateKey: KeyObject;
  /** Both tokens, or the one there is, as `sign` takes them. */
  signed(tokens: readonly RenderedToken[]): { access_token: string; id_token?: string };
  /** It was there a moment ago. */
  seen(): Promise<void>;
}

export interface SigningStageOptions {
  /** As in DATABASE_URL. */
  readonly databaseUrl: string;
  readonly clock: Clock;
  readonly pool?: Partial<SigningPool>;
}

const MASTER_KEY = Buffer.alloc(32, 7);

export async function openSigningStage(options: SigningStageOptions): Promise<SigningStage> {
  const { clock } = options;
  const database = openDatabase(options.databaseUrl, 10);
  await migrate(database);
  const changes = await openChangeFeed(database);
  const encryption = createEncryption(MASTER_KEY);
  const nodes: SovereignRequests[] = [];
  const addNode = async (nodeClock = clock) => {
    const pools = signingPoolDirectory({ database, changes, clock: nodeClock });
    const node = await openSovereignRequests({ database, encryption, pools, clock: nodeClock });
    nodes.push(node);
    return node;
  };
  const deps = { database, changes, clock };
  const { orgId, applicationId } = await makeClient(deps);
  /** As whoever writes them does: nodes keep pools and keys in memory. */
  const tell = () => changes.publish(database.query, { orgId, topic: "signing-pool" });
  const addPool = async (settings?: Partial<SigningPool>) => {
    const made = await makePool(database, clock(), orgId, settings);
    await tell();
    return made;
  };
  const pool = await addPool(options.pool);
  return {
    database,
    encryption,
    orgId,
    applicationId,
    pool,
    requests: await addNode(),
    addPool,
    addAgent: async ({ pool: of = pool, alg = "ES256" } = {}) => {
      const made = await makeAgent(database, clock, of, alg);
      await tell();
      return made;
    },
    tell,
    newRequest: (more) => ({ ...requestOf(pool, applicationId, clock()), ...more }),
    addNode,
    close: async () => {
      for (const node of nodes) await node.close();
      await changes.close();
      await database.close();
    },
  };
}

async function makeClient(deps: { database: Database; changes: ChangeFeed; clock: Clock }) {
  const organisation = await createOrganisation(deps, deps.database.query, { name: "Acme", actor: "test" });
  const orgId = organisation.id;
  const client = { orgId, name: "Batch", clientType: "confidential", actor: "test" } as const;
  return { orgId, applicationId: (await createApplication(deps, client)).id };
}

async function makePool(
  database: Database,
  now: number,
  orgId: string,
  settings: Partial<SigningPool> = {},
): Promise<SigningPool> {
  const pool: SigningPool = {
    orgId,
    id: randomUUID(),
    name: "Pool",
    issuerMode: "pool",
    algs: ["ES256", "ES384", "PS256", "RS256", "EdDSA"],
    maxTokenLifetimeSeconds: 3600,
    tokenWaitSeconds: 8,
    keyPublishDelaySeconds: 600,
    maxPending: 500,
    trustedRoots: [],
    requireX5c: false,
    createdAt: now,
    createdBy: "test",
    updatedAt: now,
    disabledAt: null,
    version: 1,
    ...settings,
  };
  await insertPool(database.query, pool);
  return pool;
}

async function makeAgent(
  database: Database,
  clock: Clock,
  { orgId, id: poolId }: SigningPool,
  alg: AgentAlg,
): Promise<SoftAgent> {
  const now = clock();
  const agentId = randomUUID();
  const { publicKey, privateKey } = keyPairOf(alg);
  const publicJwk = publicKey.export({ format: "jwk" }) as AgentKey["publicJwk"];
  const kid = jwkThumbprint(publicJwk);
  const agent = {
    orgId,
    id: agentId,
    poolId,
    name: "Agent",
    createdAt: now,
    createdBy: "test",
    lastSeenAt: now,
    deactivatedAt: null,
    compromisedAt: null,
  };
  await insertAgent(database.query, agent, `hash of ${agentId}`);
  await insertAgentKey(database.query, {
    orgId,
    kid,
    poolId,
    agentId,
    publicJwk,
    alg,
    x5c: [],
    createdAt: now,
    activeFrom: now,
    retiringAt: null,
    lastTokenExp: null,
    compromisedAt: null,
  });
  return {
    caller: { orgId, poolId, agentId },
    kid,
    alg,
    privateKey,
    signed: (tokens) =>
      Object.fromEntries(tokens.map((token) => [token.use, signedJwt(token, alg, privateKey)])) as ReturnType<
        SoftAgent["signed"]
      >,
    seen: () => noteAgentSeen(database.query, { orgId, id: agentId, now: clock(), every: 0 }),
  };
}

function keyPairOf(alg: AgentAlg): { publicKey: KeyObject; privateKey: KeyObject } {
  if (alg === "ES256") return generateKeyPairSync("ec", { namedCurve: "P-256" });
  if (alg === "ES384") return generateKeyPairSync("ec", { namedCurve: "P-384" });
  if (alg === "EdDSA") return generateKeyPairSync("ed25519");
  return generateKeyPairSync("rsa", { modulusLength: 2048 });
}

/** What an agent makes of a rendered token. */
export function signedJwt(token: RenderedToken, alg: AgentAlg, privateKey: KeyObject): string {
  const input = `${token.protected}.${token.payload}`;
  const { digest, options } = agentAlgorithms[alg];
  const signature = sign(digest, Buffer.from(input), { key: privateKey, ...options });
  return `${input}.${signature.toString("base64url")}`;
}

function requestOf(pool: SigningPool, applicationId: string, now: number): NewSigningRequest {
  return {
    orgId: pool.orgId,
    poolId: pool.id,
    applicationId,
    userId: null,
    grantType: "client_credentials",
    interactive: false,
    clientName: "Batch",
    ip: "192.0.2.1",
    claims: claimsOf(applicationId, pool.orgId, now),
  };
}

const claimsOf = (applicationId: string, orgId: string, now: number) => ({
  accessToken: {
    iss: "https://id.example/pool",
    sub: applicationId,
    aud: "api",
    iat: Math.floor(now / 1000),
    exp: Math.floor(now / 1000) + 600,
    jti: "replaced",
    client_id: applicationId,
    org_id: orgId,
    scope: "jobs:run jobs:read",
  } satisfies AccessTokenClaims,
});

/** Beside `claims.accessToken`: an ID token with the same subject. */
export function idTokenOf({ iss, sub, client_id, iat, exp }: AccessTokenClaims): IdTokenClaims {
  return { iss, sub, aud: client_id, azp: client_id, iat, exp, auth_time: iat, amr: ["pwd"], acr: "x" };
}
