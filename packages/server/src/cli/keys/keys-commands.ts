/** `signet keys …`: the signing keys of an organisation. */
import { jwsAlgorithms, type SigningAlg } from "@signet/protocol/jose/jws";
import { type KeyTimes, keyState } from "../../core/signing-keys/signing-key.ts";
import { listSigningKeys } from "../../core/signing-keys/signing-keys.store.ts";
import type { Service } from "../../modules/open-service.ts";
import {
  type Call,
  type Command,
  choice,
  jsonOption,
  optionalText,
  orgArguments,
  orgOption,
} from "../command.ts";
import { fields, formatTime, formatTimeOrNull, printList, printResult } from "../output.ts";
import { OPERATOR, requireOrganisation } from "../with-service.ts";

const algorithms = Object.keys(jwsAlgorithms) as SigningAlg[];

const record = (key: KeyTimes, keys: readonly KeyTimes[], now: number) => ({
  kid: key.kid,
  alg: key.alg,
  state: keyState(key, keys, now),
  createdAt: formatTime(key.createdAt),
  activeFrom: formatTime(key.activeFrom),
  retireAt: formatTimeOrNull(key.retireAt),
});

const keysList: Command = {
  name: "keys list",
  summary: "list the signing keys and their status: next, active, retiring or retired",
  ...orgArguments,
  runWithService: async (service, call) => {
    const { id: orgId } = await requireOrganisation(service, call.values);
    const items = await listSigningKeys(service.database.query, orgId);
    const now = service.clock();
    return printList(
      call,
      { items, more: false },
      {
        record: (key) => record(key, items, now),
        headings: ["KID", "ALG", "STATUS", "SIGNS FROM", "PUBLISHED UNTIL"],
        row: (key) => {
          const { kid, alg, state, activeFrom, retireAt } = record(key, items, now);
          return [kid, alg, state, activeFrom, retireAt ?? "next rotation"];
        },
        none: "No signing keys yet: created on first use.",
      },
    );
  },
};

const keysRotate: Command = {
  name: "keys rotate",
  summary: "rotate the signing key: published now, signs once JWKS caches have refreshed",
  usage: "--org ID [--alg ALG] [--compromised] [--json]",
  options: {
    ...orgOption,
    alg: { type: "string", value: "ALG", help: `${algorithms.join(", ")} (default ES256)` },
    compromised: {
      type: "boolean",
      help: "remove the old keys from the JWKS immediately, which invalidates the tokens they signed",
    },
    ...jsonOption,
  },
  examples: [
    "signet keys rotate --org 01998d6e-…",
    "signet keys rotate --org 01998d6e-… --alg RS256 --compromised",
  ],
  runWithService: rotate,
};

async function rotate(service: Service, call: Call): Promise<number> {
  const alg = choice("alg", optionalText(call.values, "alg") ?? "ES256", algorithms);
  const compromised = call.values.compromised === true;
  const { id: orgId } = await requireOrganisation(service, call.values);
  const key = await service.keys.rotate(orgId, alg, { actor: OPERATOR, compromised });
  const keys = await listSigningKeys(service.database.query, orgId);
  const shown = record(key, keys, service.clock());
  return printResult(call, shown, () => [
    ...fields({ kid: shown.kid, alg: shown.alg, status: shown.state, "signs from": shown.activeFrom }),
    "",
    compromised
      ? "The old keys are removed from the JWKS. Clients may cache it for up to five minutes."
      : "The old key stays published until its last token expires.",
  ]);
}

export const keysCommands: readonly Command[] = [keysList, keysRotate];
