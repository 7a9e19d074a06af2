/** `signet account rotate` and `revoke-key`: adding and revoking key pairs. */
import { isSecretLabel } from "../../core/applications/client-secrets.ts";
import { isKeyActive } from "../../core/system-accounts/system-account.ts";
import {
  revokeSystemAccountKey,
  rotateSystemAccountKey,
} from "../../core/system-accounts/system-accounts.ts";
import type { Service } from "../../modules/open-service.ts";
import {
  type Call,
  type Command,
  jsonOption,
  optionalText,
  orgOption,
  requiredText,
  UsageError,
} from "../command.ts";
import { fields, formatTime, printResult } from "../output.ts";
import { readDuration, readExpiry } from "../times.ts";
import { OPERATOR, requireAccount } from "../with-service.ts";
import { keyRecord, readAccount } from "./account-record.ts";

const MAX_OVERLAP_SECONDS = 365 * 86_400;

const accountRotate: Command = {
  name: "account rotate",
  summary: "add a key pair to a system account, shown once; existing keys stay active",
  usage: "ID --org ID [--label TEXT] [--expires TIME] [--expire-others-in TIME] [--json]",
  positionals: 1,
  options: {
    ...orgOption,
    label: { type: "string", value: "TEXT", help: "label to tell it from others" },
    expires: {
      type: "string",
      value: "TIME",
      help: "days from now (90), a date (2027-01-31, midnight UTC) or a time (2027-01-31T12:00:00Z)",
    },
    "expire-others-in": {
      type: "string",
      value: "TIME",
      help: "expire the other keys after seconds, or 15m, 24h, 7d (default: active until revoked)",
    },
    ...jsonOption,
  },
  examples: ["signet account rotate 01998d72-… --org 01998d6e-… --label autumn --expire-others-in 24h"],
  runWithService: rotate,
};

async function rotate(service: Service, call: Call): Promise<number> {
  const { values } = call;
  const label = optionalText(values, "label") ?? "";
  if (!isSecretLabel(label)) throw new UsageError("--label must be at most 100 plain characters");
  const expiresAt = readExpiry(optionalText(values, "expires"), service.clock);
  const overlap = readOverlap(optionalText(values, "expire-others-in"));
  const { orgId, id } = await requireAccount(service, call);
  const { key, secret } = await rotateSystemAccountKey(service, {
    orgId,
    id,
    label,
    expiresAt,
    ...(overlap === undefined ? {} : { expireOthersInSeconds: overlap }),
    actor: OPERATOR,
  });
  const { keys } = await readAccount(service, { orgId, id });
  const others = keys.filter((one) => one.publicKey !== key.publicKey).map(keyRecord);
  return printResult(call, { id, ...keyRecord(key), secretKey: secret, otherKeys: others }, () => [
    ...fields({ publicKey: key.publicKey, secretKey: secret, expires: keyRecord(key).expiresAt ?? "never" }),
    "",
    "Copy the secret key now: Signet can't show it again.",
    overlap === undefined
      ? "The other keys stay active until you revoke them: signet account revoke-key"
      : `The other keys expire at ${formatTime(key.createdAt + overlap * 1000)} or earlier.`,
  ]);
}

function readOverlap(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const overlap = readDuration(text, "expire-others-in");
  if (overlap > MAX_OVERLAP_SECONDS) throw new UsageError("--expire-others-in must be at most 365d");
  return overlap;
}

const accountRevokeKey: Command = {
  name: "account revoke-key",
  summary: "revoke one key immediately; the account's other keys stay active",
  usage: "ID --org ID --key ID [--json]",
  positionals: 1,
  options: {
    ...orgOption,
    key: { type: "string", value: "ID", help: "public key, as listed by account show", required: true },
    ...jsonOption,
  },
  runWithService: revoke,
};

async function revoke(service: Service, call: Call): Promise<number> {
  const { orgId, id } = await requireAccount(service, call);
  const publicKey = requiredText(call.values, "key").toLowerCase();
  const revoked = await revokeSystemAccountKey(service, { orgId, id, publicKey, actor: OPERATOR });
  const { keys } = await readAccount(service, { orgId, id });
  const key = keys.find((one) => one.publicKey === publicKey);
  if (!key) throw new Error(`the system account has no key "${publicKey}"`);
  const isLast = !keys.some((one) => isKeyActive(one, service.clock()));
  return printResult(call, { id, ...keyRecord(key) }, () => [
    revoked ? "Key revoked." : "The key was already revoked.",
    ...(isLast ? ["The account has no active key left. Add one: signet account rotate"] : []),
  ]);
}

export const accountKeyCommands: readonly Command[] = [accountRotate, accountRevokeKey];
