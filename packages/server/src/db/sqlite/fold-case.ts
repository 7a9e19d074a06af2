/** A function of statements that compare without case: SQLite's own `lower` knows ASCII alone. No index may use it. */
import type { DatabaseSync } from "node:sqlite";

export const FOLD_CASE = "signet_fold_case";

export function addFoldCase(file: DatabaseSync): void {
  file.function(FOLD_CASE, { deterministic: true }, (text) =>
    typeof text === "string" ? text.toLowerCase() : text,
  );
}
