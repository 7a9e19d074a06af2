/** What must not be read in a stolen database: JSON under the master key, bound to its row and column. */
import type { Encryption } from "../../../core/encryption/encryption.ts";

export type SealedColumn = "claims" | "challenge" | "answer" | "continuation" | "signed";

interface RowKey {
  readonly orgId: string;
  readonly requestId: string;
}

const placeOf = ({ orgId, requestId }: RowKey, column: SealedColumn) =>
  `signing-request|${orgId}|${requestId}|${column}`;

export function sealJson(encryption: Encryption, key: RowKey, column: SealedColumn, value: unknown): string {
  return encryption.seal(Buffer.from(JSON.stringify(value)), placeOf(key, column));
}

/** @throws when it was altered, or belongs to another row or column */
export function openJson<T>(
  encryption: Encryption,
  key: RowKey,
  column: SealedColumn,
  sealed: string | null,
): T {
  if (sealed === null) throw new Error(`nothing is sealed in ${column} any more`);
  return JSON.parse(encryption.open(sealed, placeOf(key, column)).toString()) as T;
}
