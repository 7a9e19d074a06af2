/** /api/v1/organisations/{org}/ledger-witnesses: who witnesses the organisation's ledger (C2SP tlog-witness). */
import { InvalidWitness, type LedgerWitness } from "../../../core/ledger/witness.ts";
import { findWitness, listWitnesses } from "../../../core/ledger/witnesses.store.ts";
import { addWitness, removeWitness } from "../../../core/ledger/witnesses.ts";
import { conflict, invalid } from "../../../http/api/api-error.ts";
import type { ApiScope } from "../../../http/api/api-route.ts";
import { actOf } from "../access.ts";
import type { ApiDeps } from "../frame/api-deps.ts";
import { type ApiResource, createRoute, deleteRoute, getRoute, listRoute } from "../frame/resource-routes.ts";
import { memoryPage } from "../lists/memory-list.ts";
import { newWitness, witnessFields, witnessRecord, witnessSchema } from "./witness-record.ts";

export function apiLedgerWitnessesRoutes(api: ApiScope, deps: ApiDeps): void {
  const witnesses: ApiResource<LedgerWitness> = {
    ...{ api, deps, tag: "API v1: ledger", one: "witness", many: "witnesses", toAnswer },
    ...{ reads: ["signet:organisation:read"], writes: ["signet:organisation:write"] },
    ...{ schema: witnessSchema, record: witnessRecord },
  };
  listRoute(
    witnesses,
    "/api/v1/organisations/:org/ledger-witnesses",
    { operationId: "apiListLedgerWitnesses", summary: "List the witnesses", fields: witnessFields },
    async ({ orgId, list }) =>
      memoryPage(list, await listWitnesses(deps.database.query, orgId), {
        ...{ fields: witnessFields, record: witnessRecord },
      }),
  );
  getRoute(
    witnesses,
    "/api/v1/organisations/:org/ledger-witnesses/:id",
    { operationId: "apiReadLedgerWitness", summary: "Get a witness" },
    ({ orgId, id }) => findWitness(deps.database.query, { orgId, id }),
  );
  createRoute(
    witnesses,
    "/api/v1/organisations/:org/ledger-witnesses",
    {
      ...{ operationId: "apiCreateLedgerWitness", summary: "Add a witness", body: newWitness, errors: [409] },
      example: {
        url: "https://witness.example",
        verifierKey: "witness.example/w1+2e74a9d0+BLbGfK1JH/mKpNOBmWeUyNWYGQmZ3kXWb0Y0u0Vh6ZPE",
      },
      description:
        "The witness must know the ledger's key. Once there is a witness, proofs are against checkpoints that `ledgerWitnessQuorum` of them have cosigned.",
    },
    async (inside, { caller, body: { url, verifierKey } }) => ({
      row: await addWitness(inside, { ...actOf(caller), settings: { url, verifierKey } }),
    }),
  );
  deleteRoute(
    witnesses,
    "/api/v1/organisations/:org/ledger-witnesses/:id",
    { operationId: "apiDeleteLedgerWitness", summary: "Remove a witness" },
    (inside, { caller, id, check }) => removeWitness(inside, { ...actOf(caller), id, check }),
  );
}

function toAnswer(error: unknown): never {
  if (!(error instanceof InvalidWitness)) throw error;
  if (error.path === undefined) throw conflict(`${error.message}.`);
  throw invalid([{ path: error.path, message: error.message }]);
}
