/** Counts what caches of records were asked for: `hit`, or `miss` when it had to be read. */
import { counter } from "../../telemetry/families.ts";

export const cacheRequests = counter(
  { name: "signet_cache_requests_total", help: "Records asked for, by whether a cache had them" },
  ["cache", "outcome"],
);
