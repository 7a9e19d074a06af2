/** The revocation of a certificate, as CRLs and OCSP responses state it (RFC 5280 §5.3, RFC 6960 §2.2). */
import { OVERLAP_MS, type RevocationReason } from "../../devices/device.ts";

export interface IssuedStatus {
  /** Hexadecimal, 32 digits. */
  readonly serial: string;
  /** Milliseconds. */
  readonly revokedAt: number | null;
  readonly supersededAt: number | null;
  /** The device's. */
  readonly reason: RevocationReason | null;
}

export interface Revocation {
  readonly at: number;
  readonly reason: RevocationReason;
}

/** Infinite for a certificate that was not superseded. */
export const endOfOverlap = ({ supersededAt }: Pick<IssuedStatus, "supersededAt">): number =>
  supersededAt === null ? Number.POSITIVE_INFINITY : supersededAt + OVERLAP_MS;

/** A superseded certificate counts as revoked after its overlap: its successor is known to work by then. */
export function effectiveRevocation(status: IssuedStatus, now: number): Revocation | undefined {
  const { revokedAt, reason } = status;
  const overlapEnd = endOfOverlap(status);
  if (revokedAt === null) return overlapEnd <= now ? { at: overlapEnd, reason: "superseded" } : undefined;
  return { at: Math.min(revokedAt, overlapEnd), reason: reason ?? "unspecified" };
}

/** CRLReason (RFC 5280 §5.3.1); unspecified is left out. */
export const reasonCodes: Readonly<Record<RevocationReason, number | undefined>> = {
  unspecified: undefined,
  keyCompromise: 1,
  superseded: 4,
  cessationOfOperation: 5,
};
