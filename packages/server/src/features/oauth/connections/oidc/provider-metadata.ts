/** What an OpenID provider publishes about itself (OpenID Connect Discovery §4): fetched by need, kept for a while. */
import type { ServerMetadata } from "openid-client";
import { ConnectionSignInFailure } from "../../../../core/connections/sign-in/failure.ts";
import type { Outbound } from "../../../../core/outbound/outbound.ts";
import { fetchJson } from "./fetch-json.ts";
import { sharedWork } from "./shared-work.ts";

const KEPT_MS = 3_600_000;
const MAX_KEPT = 1_000;

export interface ProviderMetadata {
  /** @throws ConnectionSignInFailure */
  of(orgId: string, issuer: string): Promise<ServerMetadata>;
}

export function providerMetadata(outbound: Outbound): ProviderMetadata {
  const kept = new Map<string, { readonly metadata: ServerMetadata; readonly until: number }>();
  const underWay = sharedWork<ServerMetadata>();
  return {
    of: async (orgId, issuer) => {
      const key = `${orgId}|${issuer}`;
      const known = kept.get(key);
      if (known && known.until > performance.now()) return known.metadata;
      return underWay.run(key, async () => {
        const metadata = await fetchMetadata(outbound, orgId, issuer);
        kept.delete(key);
        if (kept.size >= MAX_KEPT) kept.delete(kept.keys().next().value ?? "");
        kept.set(key, { metadata, until: performance.now() + KEPT_MS });
        return metadata;
      });
    },
  };
}

const endpoints = ["authorization_endpoint", "token_endpoint", "jwks_uri"] as const;

async function fetchMetadata(outbound: Outbound, orgId: string, issuer: string): Promise<ServerMetadata> {
  const address = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const metadata = await fetchJson(outbound, orgId, address);
  // Discovery §4.3: exactly the one that was asked for, or another one's endpoints and keys would be used.
  if (metadata["issuer"] !== issuer)
    throw new ConnectionSignInFailure("issuer-mismatch", { detail: "the discovery document is another's" });
  const missing = endpoints.find((name) => !isEndpoint(metadata[name], issuer));
  if (missing !== undefined)
    throw new ConnectionSignInFailure("upstream-garbage", { detail: `discovery: ${missing}` });
  return metadata as unknown as ServerMetadata;
}

/** http only of a provider that is itself at http: on loopback (core/outbound). */
export function isEndpoint(value: unknown, issuer: string): boolean {
  const url = typeof value === "string" ? URL.parse(value) : null;
  if (!url || url.username || url.password) return false;
  return url.protocol === "https:" || (url.protocol === "http:" && issuer.startsWith("http:"));
}
