/**
 * The registered public keys of a client: inline, or at its `jwks_uri`, which is read through the guarded way out, kept,
 * and read again when a token names a key that is not there, at most once a minute (openid-behaviours.md). Each client
 * waits for its own address only.
 */
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from "jose";
import type { Clock } from "../clock.ts";
import type { Outbound } from "../outbound/outbound.ts";
import type { Application } from "./application.ts";
import { usableClientJwks } from "./client-jwks.ts";

export interface ClientKeys {
  /** Finds the key that a token's header names; throws jose's errors or ClientKeysUnavailable. */
  lookup(application: Application): JWTVerifyGetKey;
}

/** The client has no keys, or its address does not answer with them. */
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

/** At most one read of an address in this time, whatever is asked: a stranger can name any client and any key. */
const READ_EVERY_MS = 60_000;
/** A key that its owner has taken away is gone here after this time. */
const FRESH_MS = 10 * 60_000;
/** An address that is down takes its client's keys with it after this time. */
const KEPT_MS = 60 * 60_000;
const MOST_CLIENTS = 10_000;

interface Remote {
  readonly uri: string;
  keys: JWTVerifyGetKey | undefined;
  readAt: number;
  triedAt: number;
  reading: Promise<void> | undefined;
  failure: unknown;
}

export function clientKeys(deps: ClientKeysDeps): ClientKeys {
  const inline = new Map<string, { version: number; keys: JWTVerifyGetKey }>();
  const remotes = new Map<string, Remote>();
  return {
    lookup: (application) => {
      const { jwks, jwksUri } = application.settings;
      const name = `${application.orgId}/${application.id}`;
      if (jwksUri !== undefined)
        return (...token) => remoteKey(deps, remoteOf(remotes, name, jwksUri), token);
      if (jwks === undefined) throw new ClientKeysUnavailable("the client has no keys");
      const known = inline.get(name);
      if (known?.version === application.version) return known.keys;
      const keys = keySet(jwks.keys);
      keep(inline, name, { version: application.version, keys });
      return keys;
    },
  };
}

function remoteOf(remotes: Map<string, Remote>, name: string, uri: string): Remote {
  const known = remotes.get(name);
  if (known?.uri === uri) return known;
  const long = Number.NEGATIVE_INFINITY;
  const remote = {
    uri,
    keys: undefined,
    readAt: long,
    triedAt: long,
    reading: undefined,
    failure: undefined,
  };
  keep(remotes, name, remote);
  return remote;
}

async function remoteKey(deps: ClientKeysDeps, remote: Remote, token: Parameters<JWTVerifyGetKey>) {
  if (deps.clock() - remote.readAt >= FRESH_MS) await readAgain(deps, remote);
  if (!remote.keys || deps.clock() - remote.readAt >= KEPT_MS)
    throw new ClientKeysUnavailable("the client's jwks_uri does not answer with keys", {
      cause: remote.failure,
    });
  try {
    return await remote.keys(...token);
  } catch (error) {
    // Perhaps a key that is younger than what we have read.
    if (!(error instanceof errors.JWKSNoMatchingKey) || !(await readAgain(deps, remote))) throw error;
    return remote.keys(...token);
  }
}

/** Requests that come while it is being read wait for the same answer. @returns whether it has been read */
async function readAgain(deps: ClientKeysDeps, remote: Remote): Promise<boolean> {
  if (!remote.reading) {
    if (deps.clock() - remote.triedAt < READ_EVERY_MS) return false;
    remote.triedAt = deps.clock();
    remote.reading = read(deps, remote).finally(() => {
      remote.reading = undefined;
    });
  }
  await remote.reading;
  return remote.failure === undefined;
}

/** A failure keeps the keys that were there. */
async function read(deps: ClientKeysDeps, remote: Remote): Promise<void> {
  try {
    const answer = await deps.outbound.call(remote.uri, { headers: { accept: "application/json" } });
    if (answer.status !== 200) throw new Error(`jwks_uri answered ${answer.status}`);
    const keys = usableClientJwks(answer.body.toString("utf8"));
    if (!keys) throw new Error("jwks_uri answered with no key set");
    remote.keys = keySet(keys);
    remote.readAt = deps.clock();
    remote.failure = undefined;
  } catch (error) {
    remote.failure = error;
  }
}

const keySet = (keys: readonly object[]): JWTVerifyGetKey =>
  createLocalJWKSet({ keys: [...keys] } as JSONWebKeySet);

function keep<T>(map: Map<string, T>, name: string, value: T): void {
  map.delete(name);
  if (map.size >= MOST_CLIENTS) map.delete(map.keys().next().value as string);
  map.set(name, value);
}
