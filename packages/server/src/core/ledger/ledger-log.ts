/** An organisation's log of the signatures made in its name, and who may read it. */
import type { RecordOf } from "../../db/records.ts";
import type { LedgerLogTable } from "../../db/tables/ledger.ts";

export const ledgerModes = ["public", "members", "off"] as const;
/** Who reads the log. `off`: nothing is recorded, and what was recorded before is not shown. */
export type LedgerMode = (typeof ledgerModes)[number];

/** As many as a note has to have room for (C2SP signed-note: at least 16 signatures). */
export const MAX_WITNESSES = 9;

export type LedgerLog = RecordOf<LedgerLogTable>;

/** Where the log is served. */
export const ledgerAddress = (baseUrl: string, orgId: string): string => `${baseUrl}/ledger/${orgId}`;

/** The name of the log and of its key: its address without the scheme (C2SP tlog-tiles, "Parameters"). */
export const ledgerOrigin = (baseUrl: string, orgId: string): string =>
  ledgerAddress(baseUrl, orgId).replace(/^https?:\/\//, "");
