/** Pools and agents by API (sovereign-signing.md §5): made, registered, given new keys, deactivated. */
import { isUuid } from "@signet/protocol/hash";
import Type from "typebox";
import { type AgentKey, agentKeyState } from "../../../core/signing-pools/agent-key.ts";
import { issuerModes, issuerOfPool, jwksUriOfPool } from "../../../core/signing-pools/signing-pool.ts";
import type { Administrator } from "../../../core/system-accounts/administrator.ts";
import type { Database } from "../../../db/open.ts";
import { type ApiDoor, type ApiScope, apiRoute } from "../../../http/api/api-route.ts";
import { nothingHere } from "../../../http/coded-error.ts";
import { addAgentKeys, deactivateAgent, MOST_KEYS, registerAgent } from "./agents.ts";
import { type Acting, createPool, type SovereignAdminDeps } from "./pools.ts";

export interface AdminRouteDeps extends SovereignAdminDeps {
  readonly door: ApiDoor<Administrator, Database>;
}

const PATH = "/oauth/:org/sovereign/admin";
const shared = { tag: "Sovereign signing", credential: "administrator", errorForm: "oauth" } as const;
const closed = { additionalProperties: false } as const;

export function adminRoutes(api: ApiScope, deps: AdminRouteDeps): void {
  createPoolRoute(api, deps);
  registerAgentRoute(api, deps);
  addKeysRoute(api, deps);
  deactivateAgentRoute(api, deps);
}

/** In the transaction that keeps the answer, when there is one. */
const inside = (deps: AdminRouteDeps, within: Database | undefined): AdminRouteDeps =>
  within ? { ...deps, database: within } : deps;

const acting = ({ organisation, actor, address }: Administrator): Acting => ({
  orgId: organisation.id,
  actor,
  address,
});

const newPool = Type.Object(
  {
    name: Type.String({ maxLength: 200 }),
    algs: Type.Array(Type.String({ maxLength: 20 }), {
      maxItems: 10,
      description: "some of ES256, ES384, PS256, RS256, EdDSA",
    }),
    maxTokenLifetimeSeconds: Type.Integer({ description: "60 to 86400" }),
    issuerMode: Type.Optional(
      Type.Enum([...issuerModes], {
        description: "whether tokens name the pool as their issuer (default), or the organisation",
      }),
    ),
    keyPublishDelaySeconds: Type.Optional(
      Type.Integer({ description: "how long a new key is published before it signs; 600 when left out" }),
    ),
    trustedRoots: Type.Optional(
      Type.Array(Type.String({ maxLength: 16_384 }), {
        description: "PEM: what the certificates of keys must chain to",
      }),
    ),
    requireX5c: Type.Optional(Type.Boolean({ description: "keys without certificates are refused" })),
  },
  { title: "NewSigningPool", ...closed },
);

const pool = Type.Object(
  {
    poolId: Type.String({ format: "uuid" }),
    issuer: Type.String({ format: "uri" }),
    jwksUri: Type.String({ format: "uri" }),
  },
  { title: "SigningPool" },
);

function createPoolRoute(api: ApiScope, deps: AdminRouteDeps): void {
  apiRoute(
    api,
    deps.door,
    {
      ...shared,
      method: "POST",
      path: `${PATH}/pools`,
      operationId: "createSigningPool",
      summary: "Make a pool of signing agents",
      body: newPool,
      example: { name: "Headquarters", algs: ["ES256"], maxTokenLifetimeSeconds: 3600 },
      errors: [409, 422],
      answers: { 201: { description: "The pool", schema: pool } },
    },
    async ({ caller, body, within }) => {
      const made = await createPool(inside(deps, within), acting(caller), body);
      const addresses = {
        issuer: issuerOfPool(deps.baseUrl, made),
        jwksUri: jwksUriOfPool(deps.baseUrl, made),
      };
      return { status: 201, body: { poolId: made.id, ...addresses } };
    },
  );
}

const presentedKeys = Type.Array(
  Type.Object(
    {
      jwk: Type.Record(Type.String(), Type.Unknown(), { description: "public members only (RFC 7517)" }),
      x5c: Type.Optional(
        Type.Array(Type.String(), { maxItems: 4, description: "base64 DER, the key's certificate first" }),
      ),
      pop: Type.String({
        description:
          "a JWS by the key: header alg and typ sovereign-pop+jwt, over aud (the pool's address), jkt (the key's RFC 7638 thumbprint) and iat, at most 300 seconds old",
      }),
    },
    closed,
  ),
  { minItems: 1, maxItems: MOST_KEYS },
);

const registeredKeys = Type.Array(
  Type.Object({
    kid: Type.String(),
    state: Type.String({ description: "published, active, retiring, retired or compromised" }),
  }),
);

const exampleKeys = [{ jwk: { kty: "OKP", crv: "Ed25519", x: "…" }, pop: "…" }];

const stateOf = (keys: readonly AgentKey[], now: number) =>
  keys.map((key) => ({ kid: key.kid, state: agentKeyState(key, now) }));

function registerAgentRoute(api: ApiScope, deps: AdminRouteDeps): void {
  apiRoute(
    api,
    deps.door,
    {
      ...shared,
      method: "POST",
      path: `${PATH}/agents`,
      operationId: "registerSigningAgent",
      summary: "Register an agent with its public keys; its API key is shown once",
      body: Type.Object(
        {
          poolId: Type.String({ maxLength: 36 }),
          name: Type.String({ maxLength: 200 }),
          keys: presentedKeys,
        },
        { title: "NewSigningAgent", ...closed },
      ),
      example: { poolId: "01998d6e-0000-7000-8000-000000000000", name: "agent-1", keys: exampleKeys },
      errors: [409, 422],
      answers: {
        201: {
          description: "The agent",
          schema: Type.Object(
            {
              agentId: Type.String({ format: "uuid" }),
              apiKey: Type.Union([Type.String(), Type.Null()]),
              keys: registeredKeys,
            },
            { title: "SigningAgent" },
          ),
        },
      },
    },
    async ({ caller, body, within }) => {
      const input = { ...body, poolId: idIn(body.poolId) };
      const { agent, apiKey, keys } = await registerAgent(inside(deps, within), acting(caller), input);
      const answer = { agentId: agent.id, apiKey, keys: stateOf(keys, deps.clock()) };
      return { status: 201, body: answer, shownOnce: ["apiKey"] };
    },
  );
}

function addKeysRoute(api: ApiScope, deps: AdminRouteDeps): void {
  apiRoute(
    api,
    deps.door,
    {
      ...shared,
      method: "POST",
      path: `${PATH}/agents/:agentId/keys`,
      operationId: "addSigningAgentKeys",
      summary: "Add keys to an agent; its keys of the same algorithm retire when these begin to sign",
      body: Type.Object({ keys: presentedKeys }, { title: "NewSigningAgentKeys", ...closed }),
      example: { keys: exampleKeys },
      errors: [409, 422],
      answers: {
        201: {
          description: "The keys that were added",
          schema: Type.Object(
            { agentId: Type.String({ format: "uuid" }), keys: registeredKeys },
            { title: "SigningAgentKeys" },
          ),
        },
      },
    },
    async ({ caller, params, body, within }) => {
      const agentId = idIn(params["agentId"]);
      const keys = await addAgentKeys(inside(deps, within), acting(caller), { agentId, ...body });
      return { status: 201, body: { agentId, keys: stateOf(keys, deps.clock()) } };
    },
  );
}

function deactivateAgentRoute(api: ApiScope, deps: AdminRouteDeps): void {
  apiRoute(
    api,
    deps.door,
    {
      ...shared,
      method: "DELETE",
      path: `${PATH}/agents/:agentId`,
      operationId: "deactivateSigningAgent",
      isStrictOnly: true,
      summary: "Deactivate an agent, again and again if need be",
      description:
        "Its API key is dead at once; what it has signed stays valid. With `compromised=true` its keys leave the key set at once, and all that they signed with them.",
      query: Type.Object({ compromised: Type.Optional(Type.Enum(["true", "false"])) }, closed),
      answers: { 204: { description: "It is deactivated" } },
    },
    async ({ caller, params, query }) => {
      const ending = { agentId: idIn(params["agentId"]), compromised: query.compromised === "true" };
      if (!(await deactivateAgent(deps, acting(caller), ending))) throw nothingHere();
      return { status: 204 };
    },
  );
}

/** @throws CodedError 404 for what is no id: there is nothing of that name */
function idIn(text = ""): string {
  if (!isUuid(text)) throw nothingHere();
  return text.toLowerCase();
}
