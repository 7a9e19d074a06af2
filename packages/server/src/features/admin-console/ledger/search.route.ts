/** ledger/search: whether a token, or the hash of one, is in the ledger. It is posted, and not shown again. */
import { parseEntry, parseInputHash, signingInputHash } from "@signet/protocol/ledger/entry";
import type { FastifyInstance } from "fastify";
import { proveSignature } from "../../../core/ledger/read-ledger.ts";
import type { Db } from "../../../db/open.ts";
import { acceptForm } from "../../../page-kit/accept-form.ts";
import { pageMessages } from "../../../page-kit/console-frame.ts";
import {
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  redirectTo,
  type Visit,
} from "../../../page-kit/page.ts";
import { askForIdentity } from "../../../page-kit/reauthentication.ts";
import type { SearchResult } from "./ledger.page.ts";
import { type LedgerShown, showLedger } from "./show-ledger.ts";

export const ledgerSearchRoute = (app: FastifyInstance, deps: ConsoleDeps): void =>
  consoleRoute(app, deps, "/oauth/manage/:org/ledger/search", {
    // Reloaded, or after a sign-in: the token is gone.
    get: (_, visit) => redirectTo(visit, consolePath(visit.organisation, "/ledger")),
    post: search,
  });

const MAX_LENGTH = 65_536;

async function search(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const form = await acceptForm(deps, visit, consolePath(visit.organisation, "/ledger"));
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn } = form;
  const rerender = (shown: Omit<LedgerShown, "input">) =>
    showLedger(deps, visit, signedIn, { input: { token: "" }, ...shown });
  if (form.outcome === "rejected") return rerender(form.refusal);
  const sha256 = hashOf(form.values.get("token") ?? "");
  if (sha256 === undefined) {
    const { fault } = pageMessages(visit, signedIn).console.ledger.search;
    return rerender({ state: { faults: { token: fault } }, status: 400 });
  }
  await rerender({ result: await find(deps.database.query, visit.organisation.id, sha256) });
}

/** Of a compact JWS; or the hash itself. */
function hashOf(typed: string): string | undefined {
  const text = typed
    .slice(0, MAX_LENGTH)
    .replace(/^\s*(?:authorization:\s*)?bearer\s/i, "")
    .replaceAll(/\s+/g, "");
  if (/^[\w-]+\.[\w-]+\.[\w-]+$/.test(text)) return signingInputHash(text);
  return parseInputHash(text);
}

async function find(db: Db, orgId: string, sha256: string): Promise<SearchResult> {
  const proof = await proveSignature(db, orgId, sha256);
  if (typeof proof === "string") return { sha256, found: proof };
  const entry = parseEntry(proof.entry);
  if (!entry || entry.kind === "audit_head") return { sha256, found: "not-logged" };
  const { kind, kid, time, signer } = entry;
  return { sha256, found: { index: proof.index, kind, kid, at: time * 1_000, signer } };
}
