/** `signet keys …`: the signing keys of an organisation. */
import { type TokenAlg, tokenAlgorithms } from "@signet/protocol/jose/jws";
import { type KeyTimes, keyState } from "../../core/signing-keys/signing-key.ts";
import { listSigningKeys } from "../../core/signing-keys/signing-keys.store.ts";
import { type Command, type OrganisationCall, optionalChoice } from "../command.ts";
import { fields, formatTime, formatTimeOrNull, printList, printResult } from "../output.ts";
import { OPERATOR } from "../with-service.ts";

export const algorithms = Object.keys(tokenAlgorithms) as TokenAlg[];

const keyRecord = (key: KeyTimes, keys: readonly KeyTimes[], now: number) => ({
  kid: key.kid,
  alg: key.alg,
  state: keyState(key, keys, now),
  createdAt: formatTime(key.createdAt),
  activeFrom: formatTime(key.activeFrom),
  retireAt: formatTimeOrNull(key.retireAt),
});

export const keysCommands: readonly Command[] = [
  {
    name: "keys list",
    summary: "list the signing keys and their status: next, active, retiring or retired",
    runInOrganisation: async ({ service, organisation, ...call }) => {
      const keys = await listSigningKeys(service.database.query, organisation.id);
      const now = service.clock();
      return printList(call, keys, {
        record: (key) => keyRecord(key, keys, now),
        columns: {
          KID: "kid",
          ALG: "alg",
          STATUS: "state",
          "SIGNS FROM": "activeFrom",
          "PUBLISHED UNTIL": ({ retireAt }) => formatTimeOrNull(retireAt) ?? "next rotation",
        },
        none: "No signing keys yet: created on first use.",
      });
    },
  },
  {
    name: "keys rotate",
    summary: "rotate the signing key: published now, signs once JWKS caches have refreshed",
    usage: "--org ID [--alg ALG] [--compromised] [--json]",
    options: {
      alg: { value: "ALG", help: `${algorithms.join(", ")} (default ES256)` },
      compromised: {
        help: "remove the old keys from the JWKS immediately, which invalidates the tokens they signed",
      },
    },
    examples: [
      "signet keys rotate --org 01998d6e-…",
      "signet keys rotate --org 01998d6e-… --alg RS256 --compromised",
    ],
    runInOrganisation: rotate,
  },
];

async function rotate(call: OrganisationCall): Promise<number> {
  const alg = optionalChoice(call.values, "alg", algorithms) ?? "ES256";
  const compromised = call.values.compromised === true;
  const { service, organisation } = call;
  const key = await service.keys.rotate(organisation.id, alg, { actor: OPERATOR, compromised });
  const keys = await listSigningKeys(service.database.query, organisation.id);
  const record = keyRecord(key, keys, service.clock());
  return printResult(call, record, () => [
    ...fields({ kid: record.kid, alg, status: record.state, "signs from": record.activeFrom }),
    "",
    compromised
      ? "The old keys are removed from the JWKS. Clients may cache it for up to five minutes."
      : "The old key stays published until its last token expires.",
  ]);
}
