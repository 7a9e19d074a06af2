/** What a SAML response is held against. */
import type { KeyObject } from "node:crypto";

/** Of the record and of the request. */
export interface Expected {
  readonly entityId: string;
  /** PEM. */
  readonly certificates: readonly string[];
  readonly acsUri: string;
  readonly spEntityId: string;
  readonly subjectAttribute: string | null;
  /** Undefined: nothing was asked for. */
  readonly requestId: string | undefined;
  /** Opens encrypted assertions; loaded by need. */
  key(): KeyObject;
  readonly now: number;
}
