/** `signet account rotate` and `revoke-key`: adding and revoking key pairs. */

import { isKeyActive } from "../../core/system-accounts/system-account.ts";
import {
  revokeSystemAccountKey,
  rotateSystemAccountKey,
} from "../../core/system-accounts/system-accounts.ts";
import { systemAccountKeyRecord } from "../../features/management-api/system-accounts/system-account-record.ts";
import {
  type Command,
  definedOnly,
  type OrganisationCall,
  optionalText,
  requiredText,
  UsageError,
} from "../command.ts";
import { fields, formatTime, printResult, timeOrNever } from "../output.ts";
import { credentialOptions, readCredentialOptions } from "../secret/secret-commands.ts";
import { readDuration } from "../times.ts";
import { readAccount, requireAccount } from "./account-record.ts";

const MAX_OVERLAP_SECONDS = 365 * 86_400;

export const accountKeyCommands: readonly Command[] = [
  {
    name: "account rotate",
    summary: "add a key pair to a system account, shown once; existing keys stay active",
    usage: "ID --org ID [--label TEXT] [--expires TIME] [--expire-others-in TIME] [--json]",
    positionals: 1,
    options: {
      ...credentialOptions,
      "expire-others-in": {
        value: "TIME",
        help: "expire the other keys after seconds, or 15m, 24h, 7d (default: active until revoked)",
      },
    },
    examples: ["signet account rotate 01998d72-… --org 01998d6e-… --label autumn --expire-others-in 24h"],
    runInOrganisation: rotate,
  },
  {
    name: "account revoke-key",
    summary: "revoke one key immediately; the account's other keys stay active",
    usage: "ID --org ID --key ID [--json]",
    positionals: 1,
    options: { key: { value: "ID", help: "public key, as listed by account show", required: true } },
    runInOrganisation: revoke,
  },
];

async function rotate(call: OrganisationCall): Promise<number> {
  const settings = readCredentialOptions(call);
  const overlap = readOverlap(optionalText(call.values, "expire-others-in"));
  const { id } = await requireAccount(call);
  const { service, by } = call;
  const others = definedOnly({ expireOthersInSeconds: overlap });
  const { key, secret } = await rotateSystemAccountKey(service, { ...by, id, ...settings, ...others });
  const { publicKey } = key;
  const { keys } = await readAccount(call, id);
  const otherKeys = keys.filter((one) => one.publicKey !== publicKey).map(systemAccountKeyRecord);
  return printResult(call, { id, ...systemAccountKeyRecord(key), secretKey: secret, otherKeys }, () => [
    ...fields({ publicKey, secretKey: secret, expires: timeOrNever(key.expiresAt) }),
    "",
    "Copy the secret key now: Signet can't show it again.",
    overlap === undefined
      ? "The other keys stay active until you revoke them: signet account revoke-key"
      : `The other keys expire at ${formatTime(key.createdAt + overlap * 1000)} or earlier.`,
  ]);
}

/** Of `--expire-others-in`. @throws UsageError */
export function readOverlap(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const overlap = readDuration(text, "expire-others-in");
  if (overlap > MAX_OVERLAP_SECONDS) throw new UsageError("--expire-others-in must be at most 365d");
  return overlap;
}

async function revoke(call: OrganisationCall): Promise<number> {
  const { id } = await requireAccount(call);
  const publicKey = requiredText(call.values, "key").toLowerCase();
  const revoked = await revokeSystemAccountKey(call.service, { ...call.by, id, publicKey });
  const { keys } = await readAccount(call, id);
  const key = keys.find((one) => one.publicKey === publicKey);
  if (!key) throw new Error(`the system account has no key "${publicKey}"`);
  const isLast = !keys.some((one) => isKeyActive(one, call.service.clock()));
  return printResult(call, { id, ...systemAccountKeyRecord(key) }, () => [
    revoked ? "Key revoked." : "The key was already revoked.",
    ...(isLast ? ["The account has no active key left. Add one: signet account rotate"] : []),
  ]);
}
