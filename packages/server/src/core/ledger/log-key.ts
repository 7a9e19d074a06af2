/** The Ed25519 key that signs a log's checkpoints: made with the log, sealed, and for this one use alone. */
import { createPrivateKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { formatVerifierKey, rawPublicKey } from "@signet/protocol/ledger/note";
import type { Encryption } from "../encryption/encryption.ts";
import { sealedColumn } from "../encryption/sealed-columns.ts";
import { type LedgerLog, ledgerOrigin } from "./ledger-log.ts";

const rowName = (orgId: string) => `ledger-key|${orgId}`;

export function newLogKey(
  encryption: Encryption,
  orgId: string,
): Pick<LedgerLog, "publicKey" | "privateKey"> {
  const { privateKey } = generateKeyPairSync("ed25519");
  return {
    publicKey: rawPublicKey(privateKey).toString("base64"),
    privateKey: encryption.seal(privateKey.export({ format: "der", type: "pkcs8" }), rowName(orgId)),
  };
}

export function openLogKey(encryption: Encryption, { orgId, privateKey }: LedgerLog): KeyObject {
  const der = encryption.open(privateKey, rowName(orgId));
  return createPrivateKey({ key: der, format: "der", type: "pkcs8" });
}

/** What a verifier is configured with (C2SP signed-note). */
export const logVerifierKey = (baseUrl: string, { orgId, publicKey }: LedgerLog): string =>
  formatVerifierKey({
    name: ledgerOrigin(baseUrl, orgId),
    type: 1,
    publicKey: Buffer.from(publicKey, "base64"),
  });

export const sealedLogKeys = sealedColumn({
  table: "ledger_log",
  column: "private_key",
  key: ["org_id"],
  rowName: ({ org_id }) => rowName(String(org_id)),
});
