/** The configuration by API v1. */
import { apiV1Cases, wrongBodies } from "./api-v1.ts";

const reads = ["signet:organisation:read", "signet:applications:read"] as const;
const writes = ["signet:organisation:write", "signet:applications:write"] as const;
const format = "signet-organisation/1";
const body = { file: { format, scopes: [{ name: "payroll" }] }, prune: false };
const wrong = [
  ...wrongBodies,
  ...[{}, { file: {} }, { file: [] }, { file: { format: "x" } }, { file: { format, users: [] } }],
  ...[{ ...body, prune: "yes" }, { file: { format, scopes: [{ name: "payroll" }, { name: "payroll" }] } }],
];

export const apiConfigurationCases = apiV1Cases({
  "GET /configuration": { scopes: reads, path: () => "/configuration", status: 200 },
  "POST /configuration/diff": {
    ...{ scopes: reads, path: () => "/configuration/diff", options: () => ({ body }), status: 200, wrong },
  },
  "POST /configuration/apply": {
    ...{ scopes: writes, path: () => "/configuration/apply", options: () => ({ body }), status: 200, wrong },
  },
});
