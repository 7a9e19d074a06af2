/** `signet account rotate` and `revoke-key`: a new pair of keys beside the old ones, and the end of one. */
import { isSecretLabel } from "../../core/applications/client-secrets.ts";
import { isKeyActive } from "../../core/system-accounts/system-account.ts";
import {
  revokeSystemAccountKey,
  rotateSystemAccountKey,
} from "../../core/system-accounts/system-accounts.ts";
import type { Service } from "../../modules/open-service.ts";
import { answer, fields, time } from "../answer.ts";
import {
  type Call,
  type Command,
  jsonOption,
  optionalText,
  orgOption,
  requiredText,
  UsageError,
} from "../command.ts";
import { readDuration, readExpiry } from "../times.ts";
import { accountOf, OPERATOR, organisationOf, withService } from "../with-service.ts";
import { keyRecord, readAccount } from "./account-record.ts";

const MOST_OVERLAP_SECONDS = 365 * 86_400;

const accountRotate: Command = {
  name: "account rotate",
  summary: "give a system account another pair of keys, shown once; the old ones work on",
  usage: "ID --org ID [--label TEXT] [--expires TIME] [--expire-others-in TIME] [--json]",
  positionals: 1,
  options: {
    ...orgOption,
    label: { type: "string", value: "TEXT", help: "to tell it from the others" },
    expires: {
      type: "string",
      value: "TIME",
      help: "days from now (90), a date (2027-01-31, its start in UTC) or a time (2027-01-31T12:00:00Z)",
    },
    "expire-others-in": {
      type: "string",
      value: "TIME",
      help: "the other keys end after seconds, or 15m, 24h, 7d; left out, they work until they are revoked",
    },
    ...jsonOption,
  },
  examples: ["signet account rotate 01998d72-… --org 01998d6e-… --label autumn --expire-others-in 24h"],
  run: (call) => withService(call, (service) => rotate(call, service)),
};

async function rotate(call: Call, service: Service): Promise<number> {
  const { values } = call;
  const label = optionalText(values, "label") ?? "";
  if (!isSecretLabel(label)) throw new UsageError("--label must be at most 100 plain characters");
  const expiresAt = readExpiry(optionalText(values, "expires"), service.clock);
  const overlap = readOverlap(optionalText(values, "expire-others-in"));
  const organisation = await organisationOf(service, values);
  const { orgId, id } = await accountOf(service, organisation, call);
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
  return answer(call, { id, ...keyRecord(key), secretKey: secret, otherKeys: others }, () => [
    ...fields({ publicKey: key.publicKey, secretKey: secret, expires: keyRecord(key).expiresAt ?? "never" }),
    "",
    "The secret key is not shown again.",
    overlap === undefined
      ? "The other keys work until they are revoked: signet account revoke-key"
      : `The other keys end at ${time(key.createdAt + overlap * 1000)} at the latest.`,
  ]);
}

function readOverlap(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const overlap = readDuration(text, "expire-others-in");
  if (overlap > MOST_OVERLAP_SECONDS) throw new UsageError("--expire-others-in must be at most 365d");
  return overlap;
}

const accountRevokeKey: Command = {
  name: "account revoke-key",
  summary: "end one pair of keys at once; the account's other keys are left alone",
  usage: "ID --org ID --key ID [--json]",
  positionals: 1,
  options: {
    ...orgOption,
    key: { type: "string", value: "ID", help: "the public key, as account show lists it", required: true },
    ...jsonOption,
  },
  run: (call) => withService(call, (service) => revoke(call, service)),
};

async function revoke(call: Call, service: Service): Promise<number> {
  const organisation = await organisationOf(service, call.values);
  const { orgId, id } = await accountOf(service, organisation, call);
  const publicKey = requiredText(call.values, "key").toLowerCase();
  const revoked = await revokeSystemAccountKey(service, { orgId, id, publicKey, actor: OPERATOR });
  const { keys } = await readAccount(service, { orgId, id });
  const key = keys.find((one) => one.publicKey === publicKey);
  if (!key) throw new Error(`the system account has no key "${publicKey}"`);
  const isLast = !keys.some((one) => isKeyActive(one, service.clock()));
  return answer(call, { id, ...keyRecord(key) }, () => [
    revoked ? "The key is revoked." : "The key was revoked already.",
    ...(isLast ? ["The account has no active key left: signet account rotate gives it one."] : []),
  ]);
}

export const accountKeyCommands: readonly Command[] = [accountRotate, accountRevokeKey];
