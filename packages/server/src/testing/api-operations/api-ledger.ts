/** The ledger of signatures and its witnesses by API v1. */
import { generateKeyPairSync } from "node:crypto";
import { formatVerifierKey, rawPublicKey } from "@signet/protocol/ledger/note";
import { newUuid } from "@signet/protocol/uuid";
import { insertWitness } from "../../core/ledger/witnesses.store.ts";
import type { ApiWorld } from "./api-operation.ts";
import { apiV1Cases, wrongBodies, wrongLists } from "./api-v1.ts";

const url = "https://witness.example/w";

/** A key of its own each time: one is accepted once. */
export const newWitnessKey = (type: 1 | 4 = 4): string => {
  const publicKey = rawPublicKey(generateKeyPairSync("ed25519").privateKey);
  return formatVerifierKey({ name: "witness.example/w", type, publicKey });
};

async function newWitness({ service, a }: ApiWorld): Promise<string> {
  const key = { orgId: a.organisation.id, id: newUuid() };
  // Past the rules: the cases need more of them than an organisation may have.
  await insertWitness(service.database.query, {
    ...{ ...key, url, verifierKey: newWitnessKey(), cosignedSize: 0, cosignedAt: null },
    ...{ lastError: null, createdAt: service.clock() },
  });
  return `/ledger-witnesses/${key.id}`;
}

const reads = ["signet:organisation:read"] as const;
const writes = ["signet:organisation:write"] as const;

export const apiLedgerCases = apiV1Cases({
  "GET /ledger": { scopes: reads, path: () => "/ledger", status: 200 },
  "GET /ledger-witnesses": {
    ...{ scopes: reads, path: () => "/ledger-witnesses", status: 200, wrongQueries: wrongLists },
  },
  "GET /ledger-witnesses/:id": { scopes: reads, path: newWitness, status: 200 },
  "POST /ledger-witnesses": {
    ...{ scopes: writes, path: () => "/ledger-witnesses", status: 201 },
    options: () => ({ body: { url, verifierKey: newWitnessKey() } }),
    wrong: [
      ...[...wrongBodies, {}, { url }, { verifierKey: newWitnessKey() }],
      ...[
        { url, verifierKey: newWitnessKey(1) },
        { url, verifierKey: "x" },
        { url, verifierKey: 1 },
      ],
      ...[
        { url: "http://witness.example", verifierKey: newWitnessKey() },
        { url: "https://witness.example?a=b", verifierKey: newWitnessKey() },
      ],
      { url, verifierKey: newWitnessKey(), cosignedSize: 5 },
    ],
  },
  "DELETE /ledger-witnesses/:id": { scopes: writes, path: newWitness, status: 204, wrong: [{}] },
});
