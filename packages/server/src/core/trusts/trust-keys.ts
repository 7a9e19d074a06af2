/**
 * The keys of a trusted issuer: inline, at `jwksUri`, or where its discovery document says (OpenID Connect Discovery 1.0 §4). Both
 * documents come through the outbound guard, are cached, and are asked for at most once a minute, whoever names the issuer.
 */
import type { JWTVerifyGetKey } from "jose";
import { trustKeyRules } from "../applications/client-jwks.ts";
import { type ClientKeys, ClientKeysUnavailable } from "../applications/client-keys.ts";
import { isCallable } from "../applications/validation.ts";
import type { Clock } from "../clock.ts";
import type { Outbound } from "../outbound/outbound.ts";
import type { Trust } from "./trust.ts";

export interface TrustKeysDeps {
  readonly outbound: Outbound;
  readonly clock: Clock;
  readonly clientKeys: Pick<ClientKeys, "lookup">;
}

export interface TrustKeys {
  /** @throws ClientKeysUnavailable */
  of(trust: Trust): Promise<JWTVerifyGetKey>;
}

const MIN_REFETCH_MS = 60_000;
const FRESH_MS = 10 * 60_000;
const MAX_STALE_MS = 60 * 60_000;
const MAX_ISSUERS = 10_000;

interface Discovered {
  jwksUri: string | undefined;
  fetchedAt: number;
  attemptedAt: number;
  reading: Promise<void> | undefined;
  failure: unknown;
}

export function trustKeys(deps: TrustKeysDeps): TrustKeys {
  const issuers = new Map<string, Discovered>();
  return {
    of: async ({ orgId, id, version, issuer, jwks, jwksUri }) => {
      const rules = trustKeyRules;
      if (jwks !== null)
        return deps.clientKeys.lookup({ orgId, id: `trust|${id}`, version, rules, settings: { jwks } });
      const uri = jwksUri ?? (await discoveredUri(deps, issuers, orgId, issuer));
      // Trusts of one issuer share its keys, and the budget of asking for them.
      return deps.clientKeys.lookup({
        orgId,
        id: `trust|${uri}`,
        version: 0,
        rules,
        settings: { jwksUri: uri },
      });
    },
  };
}

async function discoveredUri(
  deps: TrustKeysDeps,
  issuers: Map<string, Discovered>,
  orgId: string,
  issuer: string,
): Promise<string> {
  const entry = entryOf(issuers, `${orgId}/${issuer}`);
  const now = deps.clock();
  if (now - entry.fetchedAt >= FRESH_MS && now - entry.attemptedAt >= MIN_REFETCH_MS && !entry.reading) {
    entry.attemptedAt = now;
    entry.reading = discover(deps, entry, orgId, issuer).finally(() => {
      entry.reading = undefined;
    });
  }
  await entry.reading;
  if (entry.jwksUri !== undefined && deps.clock() - entry.fetchedAt < MAX_STALE_MS) return entry.jwksUri;
  throw new ClientKeysUnavailable("the issuer's discovery document cannot be read", { cause: entry.failure });
}

function entryOf(issuers: Map<string, Discovered>, name: string): Discovered {
  const never = Number.NEGATIVE_INFINITY;
  const known = issuers.get(name);
  if (known) return known;
  const entry: Discovered = {
    ...{ jwksUri: undefined, fetchedAt: never, attemptedAt: never, reading: undefined, failure: undefined },
  };
  if (issuers.size >= MAX_ISSUERS) issuers.delete(issuers.keys().next().value as string);
  issuers.set(name, entry);
  return entry;
}

/** A failure keeps what was read before. */
async function discover(
  { outbound, clock }: TrustKeysDeps,
  entry: Discovered,
  orgId: string,
  issuer: string,
): Promise<void> {
  try {
    const url = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
    const answer = await outbound.call(orgId, url, { headers: { accept: "application/json" } });
    if (answer.status !== 200) throw new Error(`the issuer answered ${answer.status}`);
    const document: unknown = JSON.parse(answer.body.toString("utf8"));
    const { issuer: named, jwks_uri: jwksUri } = Object(document) as Record<string, unknown>;
    // §4.3: a document about another issuer says nothing of this one.
    if (named !== issuer) throw new Error("the discovery document is of another issuer");
    if (typeof jwksUri !== "string" || !isCallable(jwksUri)) throw new Error("jwks_uri is no https URL");
    entry.jwksUri = jwksUri;
    entry.fetchedAt = clock();
    entry.failure = undefined;
  } catch (error) {
    entry.failure = error;
  }
}
