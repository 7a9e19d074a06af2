/** Shows the page of the ledger, from what is stored now. */
import { findLog } from "../../../core/ledger/append.store.ts";
import { ledgerAddress, ledgerOrigin } from "../../../core/ledger/ledger-log.ts";
import { logVerifierKey } from "../../../core/ledger/log-key.ts";
import { listWitnesses } from "../../../core/ledger/witnesses.store.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import type { FormShown } from "../../../html/components/form-state.ts";
import { toast } from "../../../html/components/toast.ts";
import { doneKey } from "../../../page-kit/console-frame.ts";
import { formView } from "../../../page-kit/form-view.ts";
import { type ConsoleDeps, show, type Visit } from "../../../page-kit/page.ts";
import { loadOrganisation } from "../settings/organisation-record.ts";
import { type LedgerState, ledgerPage, type SearchInput, type SearchResult } from "./ledger.page.ts";

export type LedgerShown = FormShown<SearchInput> & { readonly result?: SearchResult };

export async function showLedger(
  deps: ConsoleDeps,
  visit: Visit,
  signedIn: SignedIn,
  { result, ...shown }: LedgerShown,
): Promise<void> {
  const view = await formView(deps, visit, signedIn, "ledger", shown, {});
  const { ledger: text } = view.messages.console;
  const done = doneKey(visit, text.done);
  const notice = done && toast(text.done[done], view);
  await show(visit, view, ledgerPage(view, await stateOf(deps, visit), { result, notice }), shown.status);
}

async function stateOf(deps: ConsoleDeps, visit: Visit): Promise<LedgerState> {
  const { id: orgId, settings } = await loadOrganisation(deps, visit);
  const log = await findLog(deps.database.query, orgId);
  return {
    ...{ mode: settings.ledger, quorum: settings.ledgerWitnessQuorum },
    ...{ address: ledgerAddress(deps.baseUrl, orgId), origin: ledgerOrigin(deps.baseUrl, orgId) },
    verifierKey: log && logVerifierKey(deps.baseUrl, log),
    ...{ size: log?.size ?? 0, checkpointAt: log?.checkpointAt ?? 0 },
    ...{ witnessedSize: log?.witnessedSize ?? 0, witnessedAt: log?.witnessedAt ?? 0 },
    witnesses: await listWitnesses(deps.database.query, orgId),
  };
}
