/**
 * A type of authorization details (RFC 9396 §2): what an API calls it, the JSON Schema that its details keep, and the words in
 * which a user is asked for them.
 */
import type { RecordOf } from "../../db/records.ts";
import type { AuthorizationDetailTypeTable } from "../../db/tables/consents.ts";

type StoredType = RecordOf<Omit<AuthorizationDetailTypeTable, "schema" | "enabled">>;

export interface DetailType extends StoredType {
  /** JSON Schema 2020-12, within the bounds of schema-rules.ts. */
  readonly schema: DetailSchema;
  readonly enabled: boolean;
}

export type DetailSchema = Readonly<Record<string, unknown>>;

/** One element of `authorization_details`. */
export type AuthorizationDetail = Readonly<Record<string, unknown>> & { readonly type: string };

/** Every request with details, and the discovery document, scans all of them. */
export const MAX_DETAIL_TYPES = 100;
