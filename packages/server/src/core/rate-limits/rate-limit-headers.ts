/** Response headers of an exceeded limit (RateLimit header fields for HTTP, Internet-Draft). */
import type { RateLimited } from "./rate-limits.ts";

export function rateLimitHeaders({ limit, retryAfterSeconds }: RateLimited): Record<string, string> {
  return {
    "ratelimit-policy": `"${limit.name}";q=${limit.count};w=${limit.windowSeconds}`,
    ratelimit: `"${limit.name}";r=0;t=${retryAfterSeconds}`,
  };
}
