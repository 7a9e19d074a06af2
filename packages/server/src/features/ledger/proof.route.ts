/** GET /ledger/{org}/proof?sha256=…: that the signature over an input is in the log, against a witnessed checkpoint. */
import { parseInputHash } from "@signet/protocol/ledger/entry";
import { formatLedgerProof } from "@signet/protocol/ledger/proof";
import type { FastifyInstance } from "fastify";
import { type ProofRefusal, proveSignature } from "../../core/ledger/read-ledger.ts";
import { ApiError, malformed } from "../../http/api/api-error.ts";
import { parseQuery } from "../../http/form-body.ts";
import { type LedgerDeps, ledgerRoute } from "./ledger-reader.ts";

/** The merge delay: what isn't there by then was never signed here. */
const RETRY_SECONDS = 10;

export function proofRoute(app: FastifyInstance, deps: LedgerDeps): void {
  app.get(
    "/ledger/:org/proof",
    ledgerRoute(deps, async ({ orgId, request, reply }) => {
      const { values, repeated } = parseQuery(request);
      const inputHash = parseInputHash(values.get("sha256") ?? "");
      if (inputHash === undefined || repeated.size > 0 || values.size > 1)
        throw malformed("sha256 is the only parameter: base64url or hexadecimal, of the signing input.");
      const proof = await proveSignature(deps.database.query, orgId, inputHash);
      if (typeof proof === "string") throw refusal(proof);
      reply.headers({ "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" });
      return reply.send(formatLedgerProof(proof));
    }),
  );
}

const refusal = (why: ProofRefusal): ApiError =>
  why === "not-logged"
    ? new ApiError(404, "not-logged", "No such signature is in the ledger", {
        detail: "A signature is in the ledger at most ten seconds after it was made.",
        retryAfterSeconds: RETRY_SECONDS,
      })
    : new ApiError(404, "not-witnessed", "No witnessed checkpoint has this signature yet", {
        detail: "The signature is in the ledger; too few witnesses have cosigned a checkpoint with it.",
        retryAfterSeconds: RETRY_SECONDS,
      });
