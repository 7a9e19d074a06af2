/** Witnesses of a ledger as API v1 shows them. */
import Type from "typebox";
import type { LedgerWitness } from "../../../core/ledger/witness.ts";
import { strictObject } from "../../../http/api/schemas.ts";
import { wireTime, wireTimeOrNull } from "../../../http/api/times.ts";
import { memoryFields } from "../lists/list-fields.ts";

const members = {
  url: Type.String({
    ...{ minLength: 1, maxLength: 1_000 },
    description: "The submission prefix of a C2SP witness: https, without a query",
  }),
  verifierKey: Type.String({
    ...{ minLength: 1, maxLength: 512 },
    description: "Its key as in C2SP signed-note, for cosignatures (type 4)",
  }),
};

export const newWitness = strictObject(members, { title: "ApiNewLedgerWitness" });

export const witnessSchema = Type.Object(
  {
    ...{ id: Type.String({ format: "uuid" }), ...members },
    cosignedSize: Type.Integer({ description: "Of the newest checkpoint that it has cosigned" }),
    cosignedAt: Type.Union([Type.String({ format: "date-time" }), Type.Null()]),
    lastError: Type.Union([Type.String(), Type.Null()], {
      description:
        "Why the last call brought no cosignature: `unreachable`, `unknown-log`, `refused`, `inconsistent` or `bad-cosignature`",
    }),
    createdAt: Type.String({ format: "date-time" }),
  },
  { title: "ApiLedgerWitness" },
);

export const witnessFields = memoryFields({
  ...({ id: "text", url: "text", verifierKey: "text", cosignedSize: "number" } as const),
  ...({ cosignedAt: "time", lastError: "text", createdAt: "time" } as const),
});

export const witnessRecord = (witness: LedgerWitness) => ({
  ...{ id: witness.id, url: witness.url, verifierKey: witness.verifierKey },
  ...{ cosignedSize: witness.cosignedSize, cosignedAt: wireTimeOrNull(witness.cosignedAt) },
  ...{ lastError: witness.lastError, createdAt: wireTime(witness.createdAt) },
});
