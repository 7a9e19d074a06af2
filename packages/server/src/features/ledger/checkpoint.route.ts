/** GET /ledger/{org}/checkpoint (C2SP tlog-checkpoint) and GET /ledger/{org}/key, with which it is verified. */
import type { FastifyInstance } from "fastify";
import { findLog } from "../../core/ledger/append.store.ts";
import { logVerifierKey } from "../../core/ledger/log-key.ts";
import { publishedCheckpoint } from "../../core/ledger/read-ledger.ts";
import { NotFound } from "../../http/errors.ts";
import { cacheControl, type LedgerDeps, ledgerRoute } from "./ledger-reader.ts";

const TEXT = "text/plain; charset=utf-8";

export function checkpointRoutes(app: FastifyInstance, deps: LedgerDeps): void {
  const db = deps.database.query;
  app.get(
    "/ledger/:org/checkpoint",
    ledgerRoute(deps, async (visit) => {
      const checkpoint = await publishedCheckpoint(db, visit.orgId);
      // A log without entries has signed nothing yet.
      if (checkpoint === undefined) throw new NotFound("checkpoint");
      // tlog-tiles: not longer than a few seconds.
      visit.reply.headers({ "content-type": TEXT, "cache-control": cacheControl(visit, "max-age=1") });
      return visit.reply.send(checkpoint);
    }),
  );
  app.get(
    "/ledger/:org/key",
    ledgerRoute(deps, async (visit) => {
      const log = await findLog(db, visit.orgId);
      if (!log) throw new NotFound("key");
      visit.reply.headers({ "content-type": TEXT, "cache-control": cacheControl(visit, "max-age=300") });
      return visit.reply.send(`${logVerifierKey(deps.baseUrl, log)}\n`);
    }),
  );
}
