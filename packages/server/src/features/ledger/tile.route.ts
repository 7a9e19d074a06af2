/** GET /ledger/{org}/tile/… : the Merkle tree and the entries (C2SP tlog-tiles). What was served once is served so for ever. */
import { parseTilePath } from "@signet/protocol/ledger/tile-path";
import type { FastifyInstance } from "fastify";
import { readTile } from "../../core/ledger/read-ledger.ts";
import { NotFound } from "../../http/errors.ts";
import { sendBytes } from "../../http/send-bytes.ts";
import { cacheControl, type LedgerDeps, ledgerRoute } from "./ledger-reader.ts";

export function tileRoute(app: FastifyInstance, deps: LedgerDeps): void {
  app.get(
    "/ledger/:org/tile/*",
    ledgerRoute(deps, async (visit) => {
      const { "*": rest = "" } = visit.request.params as { "*"?: string };
      const path = parseTilePath(rest);
      const bytes = path && (await readTile(deps.database.query, visit.orgId, path));
      if (!bytes) throw new NotFound("tile");
      visit.reply.headers({
        "content-type": "application/octet-stream",
        "cache-control": cacheControl(visit, "max-age=31536000, immutable"),
        "x-content-type-options": "nosniff",
      });
      await sendBytes(visit.reply, bytes);
      return visit.reply;
    }),
  );
}
