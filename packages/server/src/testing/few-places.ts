import type { AdmissionLimits } from "../http/admission/admission-limits.ts";

/** An admission of so many requests at once, for which no load is ever too much but that of whoever waits for too long. */
export const fewPlaces = (
  count: number,
  { waiting, waitMs }: Pick<AdmissionLimits, "waiting" | "waitMs">,
): AdmissionLimits => ({
  ...{ all: count, least: count, each: count, waiting, waitMs },
  ...{ burstMs: 600_000, standMs: 600_000, calmMs: 0, workMs: 600_000 },
});
