/** How an agent becomes known to the service: its public keys, with proof that it has the private ones (§5). */
import { randomUUID } from "node:crypto";
import { hmacSignature, NONCE_HEADER, TIMESTAMP_HEADER } from "@signet/protocol/hmac-signature";
import type { AgentKey } from "./keys/key-source.ts";
import type { Connections, JsonAnswer } from "./service/json-call.ts";
import { type PoolPlace, poolAddress, sovereignAddress } from "./sovereign-address.ts";

export interface PresentedKey {
  readonly jwk: Readonly<Record<string, unknown>>;
  readonly x5c?: readonly string[];
  /** A JWS over pool, key and time, good for five minutes. */
  readonly pop: string;
}

/** A system account of an administrator (wire-contract.md §3). */
export interface SystemAccount {
  readonly publicKey: string;
  readonly secret: string;
}

export class EnrolmentRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = "EnrolmentRefused";
  }
}

/** @param now milliseconds */
export async function presentKey(key: AgentKey, place: PoolPlace, now: number): Promise<PresentedKey> {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
  const header = encode({ alg: key.alg, typ: "sovereign-pop+jwt" });
  const proof = { aud: poolAddress(place), jkt: key.kid, iat: Math.floor(now / 1000) };
  const signingInput = `${header}.${encode(proof)}`;
  const pop = `${signingInput}.${await key.sign(signingInput)}`;
  return { jwk: { ...key.publicJwk, alg: key.alg }, ...(key.x5c ? { x5c: key.x5c } : {}), pop };
}

export interface RegisteredKeys {
  readonly agentId: string;
  readonly keys: ReadonlyArray<{ readonly kid: string; readonly state: string }>;
}

interface AdminCall {
  readonly connections: Connections;
  readonly place: PoolPlace;
  readonly account: SystemAccount;
  readonly clock: () => number;
}

/** @returns also the API key, which the service shows this once. @throws EnrolmentRefused, CallFailed */
export async function registerAgent(
  call: AdminCall,
  agent: { readonly name: string; readonly keys: readonly PresentedKey[] },
): Promise<RegisteredKeys & { readonly apiKey: string }> {
  const answer = await post(call, "/admin/agents", { poolId: call.place.pool, ...agent });
  const apiKey = answer.body?.["apiKey"];
  if (typeof apiKey !== "string") throw refused(answer);
  return { ...registeredKeys(answer), apiKey };
}

/** New keys of an agent that is registered: they take over when the pool has published them long enough (§7). */
export async function registerKeys(
  call: AdminCall,
  agentId: string,
  keys: readonly PresentedKey[],
): Promise<RegisteredKeys> {
  return registeredKeys(await post(call, `/admin/agents/${encodeURIComponent(agentId)}/keys`, { keys }));
}

async function post({ connections, place, account, clock }: AdminCall, path: string, sent: object) {
  const url = `${sovereignAddress(place)}${path}`;
  const body = JSON.stringify(sent);
  const strict = {
    method: "POST",
    target: new URL(url).pathname,
    timestamp: String(Math.floor(clock() / 1000)),
    nonce: randomUUID(),
  };
  const headers = {
    authorization: `${account.publicKey}:${hmacSignature(account.secret, Buffer.from(body), strict)}`,
    [TIMESTAMP_HEADER]: strict.timestamp,
    [NONCE_HEADER]: strict.nonce,
  };
  return await connections.call({ method: "POST", url, headers, body, timeoutMs: 15_000 });
}

function registeredKeys(answer: JsonAnswer): RegisteredKeys {
  const { agentId, keys } = answer.body ?? {};
  if (answer.status !== 201 || typeof agentId !== "string" || !Array.isArray(keys)) throw refused(answer);
  return { agentId, keys: keys.map(({ kid, state }) => ({ kid: String(kid), state: String(state) })) };
}

function refused({ status, body }: JsonAnswer): EnrolmentRefused {
  const { error, error_description: description } = body ?? {};
  const words = [error, description].filter((part) => typeof part === "string").join(": ");
  return new EnrolmentRefused(`the service answered ${status}${words === "" ? "" : ` ${words}`}`);
}
