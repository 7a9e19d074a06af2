/** Finds a path from a certificate to a trust anchor among what came with it (RFC 5280 §6.1). Nothing is fetched. */
import { type Certificate, isIssuedBy } from "./certificate.ts";
import { certificateFault, issuerFault } from "./certificate-path.ts";

export interface PathRules {
  /** What came with the certificate, in any order; what is not needed is left alone. Few: each may be tried at each place. */
  readonly others: readonly Certificate[];
  /** Trusted, signed by themselves or not; the caller has checked them. */
  readonly anchors: readonly Certificate[];
  /** Milliseconds. */
  readonly now: number;
  /** Certificates of the path, the anchor included. */
  readonly max: number;
  /** Critical extensions that the caller checks: OIDs in hex. */
  readonly known: readonly string[];
  /** Whether an authority may issue certificates of this purpose. */
  mayIssue(issuer: Certificate): boolean;
}

/** @param path the leaf first, its faults looked at */
export function reachesAnchor(path: readonly Certificate[], rules: PathRules): boolean {
  const last = path.at(-1);
  if (!last || path.length >= rules.max) return false;
  const isIssuer = (issuer: Certificate): boolean =>
    issuerFault(issuer, path.length) === undefined && rules.mayIssue(issuer) && isIssuedBy(last, issuer);
  const { anchors, others, now, known } = rules;
  if (anchors.some(isIssuer)) return true;
  return others.some(
    (other) =>
      !path.includes(other) &&
      certificateFault(other, now, known) === undefined &&
      isIssuer(other) &&
      reachesAnchor([...path, other], rules),
  );
}
