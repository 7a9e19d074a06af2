/** The ledger in /openapi.json. */
import Type from "typebox";
import {
  type DescribedAnswer,
  type DescribedOperation,
  problemAnswers,
} from "../../http/api/described-operation.ts";

const shared = {
  method: "GET",
  tag: "Ledger of signatures",
  // Public, or for members by an access token and agents by their key: the organisation's choice.
  security: [[], ["accessToken"], ["agentKey"]],
} as const;

const textAnswer = (description: string): DescribedAnswer => ({
  description,
  contentType: "text/plain",
  schema: Type.String(),
});

const refused = problemAnswers([401, 404, 429]);

export const ledgerOperations: readonly DescribedOperation[] = [
  {
    ...{ ...shared, path: "/ledger/:org/checkpoint", operationId: "getLedgerCheckpoint" },
    summary: "The newest checkpoint that enough witnesses have cosigned (C2SP tlog-checkpoint)",
    answers: { 200: textAnswer("A signed note"), ...refused },
  },
  {
    ...{ ...shared, path: "/ledger/:org/key", operationId: "getLedgerKey" },
    summary: "The key that verifies the checkpoints (C2SP signed-note)",
    answers: { 200: textAnswer("A verifier key"), ...refused },
  },
  {
    ...{ ...shared, path: "/ledger/:org/tile/*", operationId: "getLedgerTile" },
    summary: "A tile of the Merkle tree, or a bundle of entries (C2SP tlog-tiles)",
    answers: {
      200: {
        description: "It never changes",
        contentType: "application/octet-stream",
        schema: Type.String({ contentMediaType: "application/octet-stream" }),
      },
      ...refused,
    },
  },
  {
    ...{ ...shared, path: "/ledger/:org/proof", operationId: "getLedgerProof" },
    summary: "That a signature is in the ledger (C2SP tlog-proof)",
    description:
      "The `extra` line has the entry, whose hash the proof begins with. 404 `not-logged`: no such signature, or not yet; `not-witnessed`: no cosigned checkpoint has it yet.",
    query: Type.Object({
      sha256: Type.String({
        description: "SHA-256 of the signing input, base64url or hexadecimal",
        pattern: "^([A-Za-z0-9_-]{43}|[0-9a-fA-F]{64})$",
      }),
    }),
    answers: { 200: textAnswer("The proof"), ...problemAnswers([400]), ...refused },
  },
];
