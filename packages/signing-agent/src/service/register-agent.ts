/** Registers an agent and its keys, each with a proof of possession (sovereign-signing.md §5). */
import { randomUUID } from "node:crypto";
import { NONCE_HEADER, TIMESTAMP_HEADER } from "@signet/protocol/hmac-headers";
import { hmacSignature } from "@signet/protocol/hmac-signature";
import type { AgentKey } from "../keys/key-source.ts";
import type { JsonAnswer, JsonClient } from "./json-client.ts";
import { type PoolAddress, poolUrl, sovereignUrl } from "./signing-service.ts";

export type ProvenKey = Awaited<ReturnType<typeof proveKey>>;

/** An administrator's system account (wire-contract.md §3). */
export interface SystemAccount {
  readonly publicKey: string;
  readonly secret: string;
}

export class RegistrationRefused extends Error {
  override name = "RegistrationRefused";
}

/** @param now milliseconds. @returns the key with its proof of possession: a JWS over pool, key and time, valid for five minutes */
export async function proveKey(key: AgentKey, pool: PoolAddress, now: number) {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
  const header = encode({ alg: key.alg, typ: "sovereign-pop+jwt" });
  const proof = { aud: poolUrl(pool), jkt: key.kid, iat: Math.floor(now / 1000) };
  const signingInput = `${header}.${encode(proof)}`;
  const pop = `${signingInput}.${await key.sign(signingInput)}`;
  return { jwk: { ...key.publicJwk, alg: key.alg }, ...(key.x5c ? { x5c: key.x5c } : {}), pop };
}

export type RegisteredKeys = ReturnType<typeof readRegisteredKeys>;

interface AdminCall {
  readonly client: JsonClient;
  readonly pool: PoolAddress;
  readonly account: SystemAccount;
  readonly clock: () => number;
}

/** @returns also the API key, which the service shows only once. @throws RegistrationRefused, CallFailed */
export async function registerAgent(
  call: AdminCall,
  agent: { readonly name: string; readonly keys: readonly ProvenKey[] },
): Promise<RegisteredKeys & { readonly apiKey: string }> {
  const answer = await post(call, "/admin/agents", { poolId: call.pool.pool, ...agent });
  const apiKey = answer.body?.["apiKey"];
  if (typeof apiKey !== "string") throw refusal(answer);
  return { ...readRegisteredKeys(answer), apiKey };
}

/** Adds keys to a registered agent; they sign after the pool's key activation delay (§7). */
export async function registerKeys(call: AdminCall, agentId: string, keys: readonly ProvenKey[]) {
  return readRegisteredKeys(await post(call, `/admin/agents/${encodeURIComponent(agentId)}/keys`, { keys }));
}

async function post({ client, pool, account, clock }: AdminCall, path: string, content: object) {
  const url = `${sovereignUrl(pool)}${path}`;
  const body = JSON.stringify(content);
  const timestamp = String(Math.floor(clock() / 1000));
  const signed = { method: "POST", target: new URL(url).pathname, timestamp, nonce: randomUUID() };
  const headers = {
    authorization: `${account.publicKey}:${hmacSignature(account.secret, Buffer.from(body), signed)}`,
    [TIMESTAMP_HEADER]: timestamp,
    [NONCE_HEADER]: signed.nonce,
  };
  return await client.call({ method: "POST", url, headers, body, timeoutMs: 15_000 });
}

function readRegisteredKeys(answer: JsonAnswer) {
  const { agentId, keys } = answer.body ?? {};
  if (answer.status !== 201 || typeof agentId !== "string" || !Array.isArray(keys)) throw refusal(answer);
  return { agentId, keys: keys.map(({ kid, state }) => ({ kid: String(kid), state: String(state) })) };
}

function refusal({ status, body }: JsonAnswer): RegistrationRefused {
  const { error, error_description: description } = body ?? {};
  const reason = [error, description].filter((part) => typeof part === "string").join(": ");
  return new RegistrationRefused(`the service answered ${`${status} ${reason}`.trim()}`);
}
