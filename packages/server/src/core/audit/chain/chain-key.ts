/**
 * The key that signs the heads of the audit chains. Derived from the first master key once, and sealed in the database since: a
 * chain stays provable when the master key is replaced.
 */
import type { Database } from "../../../db/open.ts";
import type { Encryption } from "../../encryption/encryption.ts";
import type { KeyRing } from "../../encryption/key-ring.ts";
import { sealedColumn } from "../../encryption/sealed-columns.ts";
import { findAnyHead } from "./chain.store.ts";
import { addInstallationKey, findInstallationKey } from "./chain-key.store.ts";
import { chainKey, isSignedHead } from "./link.ts";

const NAME = "audit-chain";
const rowName = (name: unknown) => `installation-key|${name}`;

export const sealedInstallationKey = sealedColumn({
  table: "installation_key",
  column: "sealed",
  key: ["name"],
  rowName: ({ name }) => rowName(name),
});

/** Of several nodes that start together, one writes it and all read it. @throws when no master key opens it */
export async function storedChainKey(
  { query }: Database,
  encryption: Encryption,
  masterKeys: KeyRing,
): Promise<Buffer> {
  const open = (sealed: string) => encryption.open(sealed, rowName(NAME));
  const stored = await findInstallationKey(query, NAME);
  if (stored !== undefined) return open(stored);
  const candidates = masterKeys.all().map(chainKey);
  const head = await findAnyHead(query);
  // Chains from before this key was stored: the master key may have been replaced since.
  const key = (head && candidates.find((one) => isSignedHead(one, head))) ?? candidates[0];
  if (!key) throw new Error("there is no master key");
  await addInstallationKey(query, NAME, encryption.seal(key, rowName(NAME)));
  return open((await findInstallationKey(query, NAME)) ?? "");
}
