/** GET /api/v1/organisations/{org}/ledger: how the organisation's ledger of signatures stands. */
import Type from "typebox";
import { findLog } from "../../../core/ledger/append.store.ts";
import { ledgerAddress, ledgerModes, ledgerOrigin } from "../../../core/ledger/ledger-log.ts";
import { logVerifierKey } from "../../../core/ledger/log-key.ts";
import { type ApiScope, apiRoute } from "../../../http/api/api-route.ts";
import { noParameters } from "../../../http/api/schemas.ts";
import { wireTime } from "../../../http/api/times.ts";
import { apiAuthenticator } from "../access.ts";
import type { ApiDeps } from "../frame/api-deps.ts";
import { scopeText } from "../frame/operation-texts.ts";

const reads = ["signet:organisation:read"] as const;
const orNull = (format: string, description: string) =>
  Type.Union([Type.String({ ...(format === "" ? {} : { format }) }), Type.Null()], { description });

const ledgerSchema = Type.Object(
  {
    mode: Type.Enum([...ledgerModes]),
    witnessQuorum: Type.Integer({ description: "How many witnesses a checkpoint needs" }),
    address: Type.String({ format: "uri", description: "The prefix of the log (C2SP tlog-tiles)" }),
    origin: Type.String({ description: "The name of the log, in its checkpoints" }),
    verifierKey: orNull("", "Verifies the checkpoints (C2SP signed-note); null until the first entry"),
    size: Type.Integer({ description: "Entries" }),
    checkpointAt: orNull("date-time", "When the newest checkpoint was signed"),
    witnessedSize: Type.Integer({
      description: "Of the newest checkpoint that enough witnesses have cosigned",
    }),
    witnessedAt: orNull("date-time", "When they had"),
  },
  { title: "ApiLedger" },
);

export function apiLedgerRoute(api: ApiScope, deps: ApiDeps): void {
  apiRoute(api, {
    ...{ tag: "API v1: ledger", credential: "access-token", operationId: "apiReadLedger" },
    ...{ method: "GET", path: "/api/v1/organisations/:org/ledger", query: noParameters, errors: [] },
    summary: "Get the state of the ledger of signatures",
    description: scopeText(reads, "Who may read it is changed with the organisation's policies."),
    answers: { 200: { description: "The ledger", schema: ledgerSchema } },
    authenticator: apiAuthenticator(deps, ...reads),
    handler: async ({ caller: { organisation } }) => {
      const { id: orgId, settings } = organisation;
      const log = await findLog(deps.database.query, orgId);
      const { size = 0, checkpointAt = 0, witnessedSize = 0, witnessedAt = 0 } = log ?? {};
      const time = (at: number) => (at === 0 ? null : wireTime(at));
      const body = {
        ...{ mode: settings.ledger, witnessQuorum: settings.ledgerWitnessQuorum },
        ...{ address: ledgerAddress(deps.baseUrl, orgId), origin: ledgerOrigin(deps.baseUrl, orgId) },
        verifierKey: log ? logVerifierKey(deps.baseUrl, log) : null,
        ...{ size, checkpointAt: time(checkpointAt), witnessedSize, witnessedAt: time(witnessedAt) },
      };
      return { status: 200, body };
    },
  });
}
