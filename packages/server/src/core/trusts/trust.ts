/** A trust: an issuer of others whose JWTs the organisation believes, and which of them (modern-oauth.md §6). */
import type { RecordOf } from "../../db/records.ts";
import type { TrustTable } from "../../db/tables/trusts.ts";

export const trustKinds = ["workload", "id_jag", "software_statement"] as const;
export type TrustKind = (typeof trustKinds)[number];

/** By what the subject of an identity assertion is found: as linked at the connection, or as our own `sub`. */
export const trustUserBy = ["connection", "permId"] as const;
export type TrustUserBy = (typeof trustUserBy)[number];

export type ClaimValue = string | number | boolean;

type Encoded = "kind" | "jwks" | "claims" | "single_use" | "user_by" | "enabled";

export interface Trust extends RecordOf<Omit<TrustTable, Encoded>> {
  readonly kind: TrustKind;
  readonly jwks: { readonly keys: ReadonlyArray<Readonly<Record<string, unknown>>> } | null;
  /** By name, or by JSON Pointer for a member inside; each must be so. */
  readonly claims: Readonly<Record<string, ClaimValue>>;
  readonly singleUse: boolean;
  readonly userBy: TrustUserBy;
  readonly enabled: boolean;
}

/** What is written; the rest is the record's own. */
export type TrustSettings = Omit<Trust, "orgId" | "id" | "createdAt" | "updatedAt" | "version">;

export interface TrustKey {
  readonly orgId: string;
  readonly id: string;
}

export const MAX_TRUSTS = 200;
export const MAX_CLAIMS = 20;
export const LIFETIME_RANGE = [60, 86_400] as const;
export const DEFAULT_LIFETIME_SECONDS = 3_600;

export interface TrustFault {
  readonly path: string;
  readonly message: string;
}

export class InvalidTrust extends Error {
  override readonly name = "InvalidTrust";
  readonly faults: readonly TrustFault[];
  constructor(faults: readonly TrustFault[]) {
    super(faults.map(({ path, message }) => `${path}: ${message}`).join("; "));
    this.faults = faults;
  }
}

/** A member names a record that the organisation has not. */
export class UnknownTrustReference extends Error {
  override readonly name = "UnknownTrustReference";
  readonly member: "clientId" | "connectionId";
  constructor(member: "clientId" | "connectionId") {
    super(`${member} names nothing in this organisation`);
    this.member = member;
  }
}

export class TrustConflict extends Error {
  override readonly name = "TrustConflict";
  readonly code: "too-many-trusts" | "foreign-application";
  constructor(code: TrustConflict["code"]) {
    super(
      code === "too-many-trusts"
        ? `an organisation has at most ${MAX_TRUSTS} trusts`
        : "the client is another organisation's, which alone says how it authenticates",
    );
    this.code = code;
  }
}
