/** The trace of the request that waits, in the header of the agent's calls about it (W3C Trace Context). */

export interface Lease {
  readonly requestId: string;
  readonly leaseToken: string;
  /** Of the claim, as it came: not part of the lease, but of the calls about it. */
  readonly traceparent?: unknown;
}

/** What the service is told of a lease. */
export const named = ({ requestId, leaseToken }: Lease) => ({ requestId, leaseToken });

/** Version 00. */
const TRACEPARENT = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** A call for requests of several traces belongs to none of them. */
export function inTrace(leases: readonly Lease[]): {
  readonly wait: number;
  readonly trace: string | undefined;
} {
  const [first, ...others] = new Set(leases.map(({ traceparent }) => traceparent));
  const isOne = typeof first === "string" && others.length === 0 && TRACEPARENT.test(first);
  return { wait: 0, trace: isOne ? first : undefined };
}
