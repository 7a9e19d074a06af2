/**
 * Resolves the host names that others registered, apart from the service's own: `dns.lookup` runs on libuv's few threads,
 * where forty names whose server never answers would stop every lookup of the process, the database's included. Here
 * c-ares asks the name servers over sockets of its own; each lookup has a time limit, can be cancelled, and its failure
 * is remembered for a while.
 */
import type { LookupAddress } from "node:dns";
import { Resolver } from "node:dns/promises";
import { setTimeout as delay } from "node:timers/promises";
import { localNames } from "./hosts-file.ts";

export interface Lookup {
  /** Whose name it is: a remembered failure counts for this organisation only. */
  readonly orgId: string;
  readonly signal: AbortSignal;
}

/** @returns none for a name without an address. @throws when it can't be resolved */
export type ResolveName = (host: string, lookup: Lookup) => Promise<readonly LookupAddress[]>;

export interface NameResolverOptions {
  /** `address:port`; default: those of /etc/resolv.conf. */
  readonly servers?: readonly string[];
  readonly hostsFile?: string;
  readonly lookupMs?: number;
  /** How long a failure is remembered (RFC 9520 §3.2: 1 s to 5 min). */
  readonly failureMs?: number;
  readonly maxFailures?: number;
}

const LOOKUP_MS = 3_000;
const FAILURE_MS = 10_000;
const MAX_FAILURES = 5_000;
/** The first try; c-ares doubles it for each further one. */
const FIRST_TRY_MS = 700;
const TRIES = 3;
/** Some name servers never answer for IPv6. With an IPv4 address at hand, that one is waited for no longer. */
const OTHER_FAMILY_MS = 300;

export function nameResolver(options: NameResolverOptions = {}): ResolveName {
  const { servers, hostsFile, lookupMs = LOOKUP_MS } = options;
  const machine = localNames(hostsFile);
  const failures = failureMemory(options);
  return async (host, { orgId, signal }) => {
    const name = host.toLowerCase().replace(/\.$/, "");
    const local = await machine.find(name);
    if (local.length > 0) return local;
    const known = failures.recall(orgId, name);
    if (known) throw known;
    try {
      return await queryServers(name, servers, AbortSignal.any([signal, AbortSignal.timeout(lookupMs)]));
    } catch (error) {
      // The caller's own time limit says nothing about the name.
      if (!signal.aborted) failures.remember(orgId, name, error);
      throw error;
    }
  };
}

/** Bounded: the oldest are forgotten first. Kept by organisation, so that nobody makes another's name fail. */
function failureMemory({ failureMs = FAILURE_MS, maxFailures = MAX_FAILURES }: NameResolverOptions) {
  const failures = new Map<string, { readonly error: unknown; readonly until: number }>();
  return {
    recall: (orgId: string, name: string): unknown => {
      const failure = failures.get(`${orgId}/${name}`);
      return failure && failure.until > performance.now() ? failure.error : undefined;
    },
    remember: (orgId: string, name: string, error: unknown): void => {
      const key = `${orgId}/${name}`;
      failures.delete(key);
      if (failures.size >= maxFailures) failures.delete(failures.keys().next().value as string);
      failures.set(key, { error, until: performance.now() + failureMs });
    },
  };
}

/** A resolver for each lookup, because c-ares can only cancel all queries of one at once. */
async function queryServers(
  name: string,
  servers: readonly string[] | undefined,
  signal: AbortSignal,
): Promise<LookupAddress[]> {
  const resolver = new Resolver({ timeout: FIRST_TRY_MS, tries: TRIES });
  if (servers) resolver.setServers(servers);
  const cancel = () => resolver.cancel();
  signal.addEventListener("abort", cancel, { once: true });
  try {
    return await bothFamilies(resolver, name);
  } catch (error) {
    throw signal.aborted ? new LookupTimeout() : error;
  } finally {
    signal.removeEventListener("abort", cancel);
    cancel();
  }
}

class LookupTimeout extends Error {
  readonly code = "ETIMEOUT";
}

async function bothFamilies(resolver: Resolver, name: string): Promise<LookupAddress[]> {
  const found: LookupAddress[] = [];
  const errors: unknown[] = [];
  const ask = async (family: 4 | 6) => {
    try {
      const addresses = await (family === 4 ? resolver.resolve4(name) : resolver.resolve6(name));
      found.push(...addresses.map((address) => ({ address, family })));
    } catch (error) {
      errors.push(error);
    }
  };
  const asked = [ask(4), ask(6)];
  await Promise.race(asked);
  const answered = Promise.all(asked);
  const late = new AbortController();
  if (found.length > 0)
    await Promise.race([answered, delay(OTHER_FAMILY_MS, undefined, { signal: late.signal, ref: false })]);
  else await answered;
  late.abort();
  // A family without records is no failure of the name while the other has some.
  if (found.length === 0) throw errors.find((error) => !isNoRecord(error)) ?? errors[0];
  return found;
}

const isNoRecord = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === "ENODATA";
