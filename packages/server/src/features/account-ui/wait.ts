/** The headers of an answer that says how long to wait (RFC 9110 §10.2.3). */

import { rateLimitHeaders } from "../../core/rate-limits/rate-limit-headers.ts";
import type { RateLimited } from "../../core/rate-limits/rate-limits.ts";
import type { Visit } from "../../page-kit/page.ts";

export function tellWait({ reply }: Visit, error: RateLimited): void {
  reply.headers({ ...rateLimitHeaders(error), "retry-after": String(error.retryAfterSeconds) });
}
