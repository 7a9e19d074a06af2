/**
 * The registered public keys of a client: inline, or fetched from its `jwks_uri`, cached, and fetched again at most
 * once a minute when a token names an unknown key (openid-behaviours.md). A slow URL delays its own organisation only.
 */
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from "jose";
import type { Clock } from "../clock.ts";
import type { Outbound } from "../outbound/outbound.ts";
import type { Application, ApplicationSettings } from "./application.ts";
import {
  type ClientJwk,
  type EncryptionAlg,
  findEncryptionKey,
  firstCertificate,
  isEncryptionKey,
  type JwkRules,
  usableClientJwks,
} from "./client-jwks.ts";

/** Who has the keys: a client, or an issuer that the organisation trusts. */
export interface KeyOwner extends Pick<Application, "orgId" | "id" | "version"> {
  readonly settings: Pick<ApplicationSettings, "jwks" | "jwksUri">;
  /** Default: those of clients. */
  readonly rules?: JwkRules;
}

export interface ClientKeys {
  /** Finds the key named in a token's header; throws jose's errors or ClientKeysUnavailable. */
  lookup(owner: KeyOwner): JWTVerifyGetKey;
  /** Whether a key of the client has this certificate first in its `x5c`. @throws ClientKeysUnavailable */
  hasCertificate(application: Application, der: Buffer): Promise<boolean>;
  /** The client's `use: enc` key for this algorithm; undefined when it has none. @throws ClientKeysUnavailable */
  encryptionKey(application: Application, alg: EncryptionAlg): Promise<ClientJwk | undefined>;
}

/** The client has no keys, or its jwks_uri fails. */
export class ClientKeysUnavailable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "ClientKeysUnavailable";
  }
}

export interface ClientKeysDeps {
  readonly outbound: Outbound;
  readonly clock: Clock;
}

/** At most one fetch of a URL per interval, because anyone can name any client and any key. */
const MIN_REFETCH_MS = 60_000;
/** A removed key stops working after this time. */
const FRESH_MS = 10 * 60_000;
/** Keys stop working when their URL has failed for this long. */
const MAX_STALE_MS = 60 * 60_000;
const MAX_CLIENTS = 10_000;

interface Remote {
  readonly orgId: string;
  readonly uri: string;
  readonly rules: JwkRules | undefined;
  keys: JWTVerifyGetKey | undefined;
  certificates: readonly Buffer[];
  encryptionKeys: readonly ClientJwk[];
  fetchedAt: number;
  attemptedAt: number;
  reading: Promise<void> | undefined;
  failure: unknown;
}

export function clientKeys(deps: ClientKeysDeps): ClientKeys {
  const inline = new Map<string, { version: number; keys: JWTVerifyGetKey }>();
  const remotes = new Map<string, Remote>();
  return {
    lookup: (owner) => {
      const { jwks, jwksUri } = owner.settings;
      const name = `${owner.orgId}/${owner.id}`;
      if (jwksUri !== undefined)
        return (...token) => remoteKey(deps, remoteOf(remotes, owner, jwksUri), token);
      if (jwks === undefined) throw new ClientKeysUnavailable("the client has no keys");
      const known = inline.get(name);
      if (known?.version === owner.version) return known.keys;
      const keys = keySet(jwks.keys);
      cacheEntry(inline, name, { version: owner.version, keys });
      return keys;
    },
    hasCertificate: async (application, der) => {
      const { jwks, jwksUri } = application.settings;
      if (jwksUri === undefined) return certificatesOf(jwks?.keys ?? []).some((one) => one.equals(der));
      const remote = remoteOf(remotes, application, jwksUri);
      const isListed = () => remote.certificates.some((one) => one.equals(der));
      await requireFresh(deps, remote);
      // The certificate may be newer than the last fetch.
      return isListed() || ((await refetch(deps, remote)) && isListed());
    },
    encryptionKey: async (application, alg) => {
      const { jwks, jwksUri } = application.settings;
      if (jwksUri === undefined) return findEncryptionKey(jwks?.keys ?? [], alg);
      const remote = remoteOf(remotes, application, jwksUri);
      await requireFresh(deps, remote);
      const find = () => findEncryptionKey(remote.encryptionKeys, alg);
      return find() ?? ((await refetch(deps, remote)) ? find() : undefined);
    },
  };
}

const certificatesOf = (keys: readonly ClientJwk[]): Buffer[] =>
  keys.filter((jwk) => !isEncryptionKey(jwk)).flatMap((jwk) => firstCertificate(jwk) ?? []);

function remoteOf(remotes: Map<string, Remote>, { orgId, id, rules }: KeyOwner, uri: string): Remote {
  const name = `${orgId}/${id}`;
  const known = remotes.get(name);
  if (known?.uri === uri) return known;
  const never = Number.NEGATIVE_INFINITY;
  const remote = {
    orgId,
    uri,
    rules,
    keys: undefined,
    certificates: [],
    encryptionKeys: [],
    fetchedAt: never,
    attemptedAt: never,
    reading: undefined,
    failure: undefined,
  };
  cacheEntry(remotes, name, remote);
  return remote;
}

/** @throws ClientKeysUnavailable */
async function requireFresh(deps: ClientKeysDeps, remote: Remote): Promise<JWTVerifyGetKey> {
  if (deps.clock() - remote.fetchedAt >= FRESH_MS) await refetch(deps, remote);
  if (remote.keys && deps.clock() - remote.fetchedAt < MAX_STALE_MS) return remote.keys;
  throw new ClientKeysUnavailable("the client's jwks_uri does not answer with keys", {
    cause: remote.failure,
  });
}

async function remoteKey(deps: ClientKeysDeps, remote: Remote, token: Parameters<JWTVerifyGetKey>) {
  const keys = await requireFresh(deps, remote);
  try {
    return await keys(...token);
  } catch (error) {
    // The key may be newer than the last fetch.
    if (!(error instanceof errors.JWKSNoMatchingKey) || !(await refetch(deps, remote))) throw error;
    return (remote.keys ?? keys)(...token);
  }
}

/** Concurrent requests share one fetch. @returns whether it succeeded */
async function refetch(deps: ClientKeysDeps, remote: Remote): Promise<boolean> {
  if (!remote.reading) {
    if (deps.clock() - remote.attemptedAt < MIN_REFETCH_MS) return false;
    remote.attemptedAt = deps.clock();
    remote.reading = fetchKeys(deps, remote).finally(() => {
      remote.reading = undefined;
    });
  }
  await remote.reading;
  return remote.failure === undefined;
}

/** A failure keeps the previous keys. */
async function fetchKeys(deps: ClientKeysDeps, remote: Remote): Promise<void> {
  try {
    const answer = await deps.outbound.call(remote.orgId, remote.uri, {
      headers: { accept: "application/json" },
    });
    if (answer.status !== 200) throw new Error(`jwks_uri answered ${answer.status}`);
    const keys = usableClientJwks(answer.body.toString("utf8"), remote.rules);
    if (!keys) throw new Error("jwks_uri answered with no key set");
    remote.keys = keySet(keys);
    remote.certificates = certificatesOf(keys);
    remote.encryptionKeys = keys.filter(isEncryptionKey);
    remote.fetchedAt = deps.clock();
    remote.failure = undefined;
  } catch (error) {
    remote.failure = error;
  }
}

/** All keys are for signatures, by whatever `use` they say so, but those for encryption. */
const keySet = (keys: readonly ClientJwk[]): JWTVerifyGetKey =>
  createLocalJWKSet({
    keys: keys.filter((jwk) => !isEncryptionKey(jwk)).map(({ use: _, ...jwk }) => jwk),
  } as unknown as JSONWebKeySet);

function cacheEntry<T>(map: Map<string, T>, name: string, value: T): void {
  map.delete(name);
  if (map.size >= MAX_CLIENTS) map.delete(map.keys().next().value as string);
  map.set(name, value);
}
