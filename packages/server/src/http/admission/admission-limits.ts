/** How many requests a process works on, and lets wait. */

export interface AdmissionLimits {
  /** Worked on at once, of all organisations. */
  readonly all: number;
  /** That many while the event loop has no rest: more would only wait for each other inside of the work. */
  readonly least: number;
  /** Of one: the others always find a place. The same share of fewer places. */
  readonly each: number;
  /** How many may wait for a place, of all organisations. */
  readonly waiting: number;
  /** Where some have waited all this time, it is no burst: no more may wait than are worked on, or for long, in milliseconds. */
  readonly burstMs: number;
  /** Then nobody begins to wait behind one who waited for so long. */
  readonly standMs: number;
  /** For so long after the last refusal too. */
  readonly calmMs: number;
  /** Whoever waited so long is refused, in milliseconds. */
  readonly waitMs: number;
  /** Whoever is worked on for so long waits for somebody else, and counts no more, in milliseconds. */
  readonly workMs: number;
}

/** As many as a process answers in a tenth of a second; a wait and a turn of the event loop end within a quarter. */
export const defaultAdmissionLimits: AdmissionLimits = {
  ...{ all: 256, least: 48, each: 192, waiting: 2_048 },
  ...{ burstMs: 100, standMs: 40, calmMs: 500, waitMs: 150, workMs: 1_000 },
};

/** The share of each of several processes that serve one port. */
export const admissionLimitsOf = (workers: number): AdmissionLimits => ({
  ...defaultAdmissionLimits,
  all: Math.ceil(defaultAdmissionLimits.all / workers),
  least: Math.ceil(defaultAdmissionLimits.least / workers),
  each: Math.ceil(defaultAdmissionLimits.each / workers),
  waiting: Math.ceil(defaultAdmissionLimits.waiting / workers),
});
