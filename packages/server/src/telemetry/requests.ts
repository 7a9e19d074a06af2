/** Metrics of requests, of all of them, and of the organisations that send most where that is asked for. */
import { type Family, gauge, histogram, isMeasuring } from "./families.ts";

const durations = histogram(
  { name: "signet_http_request_duration_seconds", help: "Time from a request to the end of its answer" },
  ["method", "route", "status_class"],
);

export interface MeasuredRequest {
  readonly method: string;
  /** The pattern. */
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
  readonly orgId?: string | undefined;
}

const METHODS = new Set(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]);

export function measureRequest({ method, route, status, durationMs, orgId }: MeasuredRequest): void {
  if (!isMeasuring()) return;
  durations.observe(
    durationMs / 1_000,
    METHODS.has(method) ? method : "other",
    route,
    CLASSES[Math.floor(status / 100)] ?? "other",
  );
  // An organisation that isn't there is answered by 404: whoever makes up ids must push no real one out.
  if (status !== NOT_FOUND) organisations?.count(orgId);
}

const NOT_FOUND = 404;
const CLASSES = ["other", "1xx", "2xx", "3xx", "4xx", "5xx"];

/** As many are counted to find the largest of them. */
const WATCHED = 1_000;
const SHOWN = 20;

let organisations: ReturnType<typeof watchLargest> | undefined;

/** SIGNET_METRICS_ORGANISATIONS=top20. @returns the family */
export function watchOrganisations(): Family {
  organisations ??= watchLargest();
  return organisations.family;
}

/** For tests. */
export function forgetOrganisations(): void {
  organisations = undefined;
}

/** One that seldom comes is the first to go. */
function watchLargest() {
  const counts = new Map<string, number>();
  const count = (orgId: string | undefined) => {
    if (orgId === undefined) return;
    const known = counts.get(orgId);
    if (known === undefined && counts.size >= WATCHED) {
      const [smallest] = [...counts].reduce((one, other) => (other[1] < one[1] ? other : one));
      counts.delete(smallest);
    }
    counts.set(orgId, (known ?? 0) + 1);
  };
  const family = gauge(
    {
      name: "signet_organisation_requests_total",
      type: "counter",
      help: "Requests since the start of the organisations that send most",
      aggregator: "sum",
    },
    ["organisation"],
    () =>
      [...counts]
        .sort(([, one], [, other]) => other - one)
        .slice(0, SHOWN)
        .map(([orgId, value]) => [[orgId], value] as const),
  );
  return { count, family };
}
