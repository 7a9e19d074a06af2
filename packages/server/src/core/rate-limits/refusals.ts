/** Counts refusals by the name of the limit, those of queues included. */
import { counter } from "../../telemetry/families.ts";

export const rateLimitRefusals = counter(
  {
    name: "signet_rate_limit_refusals_total",
    help: "Requests refused by a rate limit, or because a queue was full",
  },
  ["limit"],
);
