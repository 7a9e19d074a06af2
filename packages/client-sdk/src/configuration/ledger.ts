/** `requireLedgerProof`: which ledger and which witnesses are believed. */
import { isSameKey, parseVerifierKey } from "../ledger/signed-note.ts";
import { isAllowedUrl } from "../provider/http.ts";
import type { FilterProperties, LedgerSettings } from "./settings.ts";

const names = ["ledgerUrl", "ledgerKey", "ledgerWitnesses", "ledgerQuorum"] as const;

export function checkLedger(
  configuration: FilterProperties,
  issuer: string | undefined,
  reasons: string[],
): { readonly ledger?: LedgerSettings } {
  const { filterType, requireLedgerProof = false, ledgerKey, organisations } = configuration;
  if (filterType === "None") return {};
  if (requireLedgerProof === false) {
    const given = names.filter((name) => configuration[name] !== undefined);
    // A check that isn't made must not appear to be.
    if (given.length > 0 && configuration.requireLedgerProof === undefined)
      reasons.push(`${given.join(", ")}: nothing is checked without requireLedgerProof.`);
    return {};
  }
  if (filterType !== "OAuthUserBearer")
    reasons.push("requireLedgerProof is only for OAuthUserBearer: other filters take no access tokens.");
  if (organisations !== undefined)
    reasons.push("organisations and requireLedgerProof exclude each other: a ledger is of one organisation.");
  const key = ledgerKey === undefined ? undefined : parseVerifierKey(ledgerKey);
  if (ledgerKey === undefined) reasons.push("requireLedgerProof needs ledgerKey, of `signet ledger show`.");
  else if (key?.type !== 1)
    reasons.push("ledgerKey must be a ledger's key: <name>+<id>+<base64>, of type 1.");
  const url = checkUrl(configuration, issuer, reasons);
  const { witnesses, quorum } = checkWitnesses(configuration, reasons);
  const mode = requireLedgerProof === "async" ? "async" : "wait";
  return { ledger: { mode, url, key: ledgerKey ?? "", witnesses, quorum } };
}

function checkUrl(
  { ledgerUrl, environment = "production" }: FilterProperties,
  issuer: string | undefined,
  reasons: string[],
): string {
  const derived = issuer?.match(/^(.*)\/oauth\/([0-9a-f-]{36})$/i);
  const url = ledgerUrl?.replace(/\/$/, "") ?? (derived ? `${derived[1]}/ledger/${derived[2]}` : undefined);
  if (url === undefined)
    reasons.push("requireLedgerProof needs ledgerUrl: the issuer is not an organisation's.");
  else if (!isAllowedUrl(url, environment) || new URL(url).search !== "")
    reasons.push("ledgerUrl must be an https URL without a query.");
  return url ?? "";
}

function checkWitnesses(
  { ledgerWitnesses: witnesses = [], ledgerQuorum }: FilterProperties,
  reasons: string[],
) {
  const quorum = ledgerQuorum ?? witnesses.length;
  if (witnesses.length === 0)
    reasons.push(
      "requireLedgerProof needs ledgerWitnesses: without one the service could show everybody another ledger.",
    );
  const keys = witnesses.map(parseVerifierKey);
  if (!keys.every((key) => key?.type === 4))
    reasons.push("ledgerWitnesses must be witnesses' keys: <name>+<id>+<base64>, of type 4.");
  const isTwice = keys.some(
    (key, at) => key && keys.some((other, to) => to < at && other && isSameKey(key, other)),
  );
  if (isTwice) reasons.push("ledgerWitnesses has a key twice: it would be counted twice.");
  if (quorum > witnesses.length)
    reasons.push("ledgerQuorum must not be above the number of ledgerWitnesses.");
  return { witnesses, quorum };
}
