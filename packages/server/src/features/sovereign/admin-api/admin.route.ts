/** The admin API of pools and agents: create, register, add keys, deactivate (sovereign-signing.md §5). */

import { agentAlgs } from "@signet/protocol/agent-signature";
import { isUuid } from "@signet/protocol/hash";
import Type from "typebox";
import type { Act } from "../../../core/audit/audit.store.ts";
import { type AgentKey, agentKeyState } from "../../../core/signing-pools/agent-key.ts";
import {
  issuerModes,
  signingPoolIssuer,
  signingPoolJwksUri,
} from "../../../core/signing-pools/signing-pool.ts";
import type { Administrator } from "../../../core/system-accounts/system-account.ts";
import type { Database } from "../../../db/open.ts";
import { type ApiAuthenticator, type ApiScope, apiRoute } from "../../../http/api/api-route.ts";
import { codedNotFound } from "../../../http/coded-error.ts";
import { addAgentKeys, deactivateAgent, MAX_KEYS, registerAgent } from "./agents.ts";
import { createPool, type SovereignAdminDeps } from "./pools.ts";

export interface AdminRouteDeps extends SovereignAdminDeps {
  readonly authenticator: ApiAuthenticator<Administrator, Database>;
}

const shared = { tag: "Sovereign signing", credential: "administrator", errorForm: "oauth" } as const;
const closed = { additionalProperties: false } as const;
const uuid = Type.String({ format: "uuid" });
const uri = Type.String({ format: "uri" });

export function adminRoutes(api: ApiScope, deps: AdminRouteDeps): void {
  createPoolRoute(api, deps);
  registerAgentRoute(api, deps);
  addKeysRoute(api, deps);
  deactivateAgentRoute(api, deps);
}

/** Uses the transaction that stores the response of an idempotent call, when there is one. */
const inTransaction = (deps: AdminRouteDeps, within: Database | undefined): AdminRouteDeps =>
  within ? { ...deps, database: within } : deps;

const acting = ({ organisation, actor, address }: Administrator): Act => ({
  orgId: organisation.id,
  actor,
  address,
});

const newPool = Type.Object(
  {
    name: Type.String({ maxLength: 200 }),
    algs: Type.Array(Type.String({ maxLength: 20 }), {
      maxItems: 10,
      description: `some of ${agentAlgs.join(", ")}`,
    }),
    maxTokenLifetimeSeconds: Type.Integer({ description: "60 to 86400" }),
    issuerMode: Type.Optional(
      Type.Enum([...issuerModes], {
        description: "the issuer of the tokens: the pool (default) or the organisation",
      }),
    ),
    keyPublishDelaySeconds: Type.Optional(
      Type.Integer({ description: "seconds a new key is published before it signs; default: 600" }),
    ),
    trustedRoots: Type.Optional(
      Type.Array(Type.String({ maxLength: 16_384 }), {
        description: "PEM certificates that the x5c chains of keys must end in",
      }),
    ),
    requireX5c: Type.Optional(Type.Boolean({ description: "refuse keys without certificates" })),
    approvals: Type.Optional(
      Type.Integer({
        description:
          "agents that approve each signature, the one that signs among them: 1 (default) to 9; 1 with threshold",
      }),
    ),
    threshold: Type.Optional(
      Type.Object(
        { min: Type.Integer(), max: Type.Integer() },
        {
          ...closed,
          description:
            "the pool's key exists nowhere: `min` of its `max` agents sign together (RFC 9591), 2 <= min <= max <= 9; algs must be [EdDSA]",
        },
      ),
    ),
  },
  { title: "NewSigningPool", ...closed },
);

const pool = Type.Object({ poolId: uuid, issuer: uri, jwksUri: uri }, { title: "SigningPool" });

function createPoolRoute(api: ApiScope, deps: AdminRouteDeps): void {
  apiRoute(api, {
    ...shared,
    method: "POST",
    path: "/oauth/:org/sovereign/admin/pools",
    operationId: "createSigningPool",
    summary: "Create a signing pool",
    body: newPool,
    example: { name: "Headquarters", algs: ["ES256"], maxTokenLifetimeSeconds: 3600 },
    errors: [409, 422],
    answers: { 201: { description: "The pool", schema: pool } },
    authenticator: deps.authenticator,
    handler: async ({ caller, body, within }) => {
      const created = await createPool(inTransaction(deps, within), acting(caller), body);
      const addresses = {
        issuer: signingPoolIssuer(deps.baseUrl, created),
        jwksUri: signingPoolJwksUri(deps.baseUrl, created),
      };
      return { status: 201, body: { poolId: created.id, ...addresses } };
    },
  });
}

const presentedKeys = Type.Array(
  Type.Object(
    {
      jwk: Type.Record(Type.String(), Type.Unknown(), { description: "public members only (RFC 7517)" }),
      x5c: Type.Optional(
        Type.Array(Type.String(), { maxItems: 4, description: "base64 DER, the leaf certificate first" }),
      ),
      pop: Type.String({
        description:
          "proof of possession: a JWS by the key with typ sovereign-pop+jwt over aud (the pool's URL), jkt (the key's RFC 7638 thumbprint) and iat (at most 300 seconds old)",
      }),
    },
    closed,
  ),
  { minItems: 1, maxItems: MAX_KEYS },
);

const registeredKeys = Type.Array(
  Type.Object({
    kid: Type.String(),
    state: Type.String({ description: "published, active, retiring, retired or compromised" }),
  }),
);

const exampleKeys = [{ jwk: { kty: "OKP", crv: "Ed25519", x: "…" }, pop: "…" }];

const describeKeys = (keys: readonly AgentKey[], now: number) =>
  keys.map((key) => ({ kid: key.kid, state: agentKeyState(key, now) }));

function registerAgentRoute(api: ApiScope, deps: AdminRouteDeps): void {
  apiRoute(api, {
    ...shared,
    method: "POST",
    path: "/oauth/:org/sovereign/admin/agents",
    operationId: "registerSigningAgent",
    summary: "Register an agent with its public keys",
    description: "The API key is returned once.",
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
          { agentId: uuid, apiKey: Type.Union([Type.String(), Type.Null()]), keys: registeredKeys },
          { title: "SigningAgent" },
        ),
      },
    },
    authenticator: deps.authenticator,
    handler: async ({ caller, body, within }) => {
      const input = { ...body, poolId: requireId(body.poolId) };
      const { agent, apiKey, keys } = await registerAgent(inTransaction(deps, within), acting(caller), input);
      const answer = { agentId: agent.id, apiKey, keys: describeKeys(keys, deps.clock()) };
      return { status: 201, body: answer, shownOnce: ["apiKey"] };
    },
  });
}

function addKeysRoute(api: ApiScope, deps: AdminRouteDeps): void {
  apiRoute(api, {
    ...shared,
    method: "POST",
    path: "/oauth/:org/sovereign/admin/agents/:agentId/keys",
    operationId: "addSigningAgentKeys",
    summary: "Add keys to an agent",
    description: "The agent's keys of the same algorithm retire when the new ones become active.",
    body: Type.Object({ keys: presentedKeys }, { title: "NewSigningAgentKeys", ...closed }),
    example: { keys: exampleKeys },
    errors: [409, 422],
    answers: {
      201: {
        description: "The added keys",
        schema: Type.Object({ agentId: uuid, keys: registeredKeys }, { title: "SigningAgentKeys" }),
      },
    },
    authenticator: deps.authenticator,
    handler: async ({ caller, params, body, within }) => {
      const agentId = requireId(params["agentId"]);
      const keys = await addAgentKeys(inTransaction(deps, within), acting(caller), { agentId, ...body });
      return { status: 201, body: { agentId, keys: describeKeys(keys, deps.clock()) } };
    },
  });
}

function deactivateAgentRoute(api: ApiScope, deps: AdminRouteDeps): void {
  apiRoute(api, {
    ...shared,
    method: "DELETE",
    path: "/oauth/:org/sovereign/admin/agents/:agentId",
    operationId: "deactivateSigningAgent",
    summary: "Deactivate an agent",
    description:
      "Idempotent. The API key stops working immediately; signed tokens stay valid. With `compromised=true` the agent's keys leave the JWKS immediately, so that tokens they signed are no longer valid.",
    query: Type.Object({ compromised: Type.Optional(Type.Enum(["true", "false"])) }, closed),
    answers: { 204: { description: "The agent is deactivated" } },
    authenticator: deps.authenticator,
    handler: async ({ caller, params, query }) => {
      const ending = { agentId: requireId(params["agentId"]), compromised: query.compromised === "true" };
      if (!(await deactivateAgent(deps, acting(caller), ending))) throw codedNotFound();
      return { status: 204 };
    },
  });
}

/** @throws CodedError 404 for anything but a UUID */
function requireId(text = ""): string {
  if (!isUuid(text)) throw codedNotFound();
  return text.toLowerCase();
}
