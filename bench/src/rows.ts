/** Every line of the design's table of speed (quality.md), in its order. */
import type { Row } from "./row.ts";
import { comparedRows } from "./rows/compared-rows.ts";
import { directoryRow } from "./rows/directory-row.ts";
import { enrolmentRow } from "./rows/enrolment-row.ts";
import { heapRow } from "./rows/heap-row.ts";
import { leavesRow, ledgerRow } from "./rows/ledger-row.ts";
import { loginRow } from "./rows/login-row.ts";
import { modernOAuthRows } from "./rows/modern-oauth-rows.ts";
import { observedRow } from "./rows/observed-row.ts";
import { organisationsRow } from "./rows/organisations-row.ts";
import { overloadRow } from "./rows/overload-row.ts";
import { poolRow } from "./rows/pool-row.ts";
import { postgresRow } from "./rows/postgres-row.ts";
import { readRows } from "./rows/read-rows.ts";
import { scimImportRow } from "./rows/scim-import-row.ts";
import { startRow } from "./rows/start-row.ts";
import { streamsRow } from "./rows/streams-row.ts";
import { thresholdRow } from "./rows/threshold-row.ts";
import { eventsRow, tokensRow } from "./rows/tokens-row.ts";
import { webhooksRow } from "./rows/webhooks-row.ts";
import { workersRow } from "./rows/workers-row.ts";

export const rows: readonly Row[] = [
  ...comparedRows,
  ...readRows,
  ...modernOAuthRows,
  loginRow,
  postgresRow,
  poolRow,
  thresholdRow,
  ledgerRow,
  enrolmentRow,
  organisationsRow,
  tokensRow,
  eventsRow,
  leavesRow,
  directoryRow,
  scimImportRow,
  streamsRow,
  webhooksRow,
  workersRow,
  observedRow,
  startRow,
  overloadRow,
  heapRow,
];
