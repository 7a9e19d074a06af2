/** `signet keys …`: the signing keys of an organisation. */
import { jwsAlgorithms, type SigningAlg } from "@signet/protocol/jose/jws";
import { type KeyTimes, keyState } from "../../core/signing-keys/signing-key.ts";
import { listSigningKeys } from "../../core/signing-keys/signing-keys.store.ts";
import type { Service } from "../../modules/open-service.ts";
import { answer, answerList, fields, time, timeOrNull } from "../answer.ts";
import { type Call, type Command, choice, jsonOption, optionalText, orgOption } from "../command.ts";
import { OPERATOR, organisationOf, withService } from "../with-service.ts";

const algorithms = Object.keys(jwsAlgorithms) as SigningAlg[];

const record = (key: KeyTimes, keys: readonly KeyTimes[], now: number) => ({
  kid: key.kid,
  alg: key.alg,
  state: keyState(key, keys, now),
  createdAt: time(key.createdAt),
  activeFrom: time(key.activeFrom),
  retireAt: timeOrNull(key.retireAt),
});

const keysList: Command = {
  name: "keys list",
  summary: "list the signing keys: next (published, signs soon), active, retiring, retired",
  usage: "--org ID [--json]",
  options: { ...orgOption, ...jsonOption },
  run: (call) =>
    withService(call, async (service) => {
      const { id: orgId } = await organisationOf(service, call.values);
      const items = await listSigningKeys(service.database.query, orgId);
      const now = service.clock();
      return answerList(
        call,
        { items, more: false },
        {
          record: (key) => record(key, items, now),
          headings: ["KID", "ALG", "STATE", "SIGNS FROM", "LEAVES THE JWKS"],
          row: (key) => {
            const { kid, alg, state, activeFrom, retireAt } = record(key, items, now);
            return [kid, alg, state, activeFrom, retireAt ?? "when its successor takes over"];
          },
          none: "The organisation has no keys yet: they are made when first needed.",
        },
      );
    }),
};

const keysRotate: Command = {
  name: "keys rotate",
  summary: "make a new key: published now, signing once every reader of the JWKS knows it",
  usage: "--org ID [--alg ALG] [--compromised] [--json]",
  options: {
    ...orgOption,
    alg: { type: "string", value: "ALG", help: `${algorithms.join(", ")} (default ES256)` },
    compromised: {
      type: "boolean",
      help: "the old keys are known to others: they leave the JWKS now, and all that they signed is void",
    },
    ...jsonOption,
  },
  examples: [
    "signet keys rotate --org 01998d6e-…",
    "signet keys rotate --org 01998d6e-… --alg RS256 --compromised",
  ],
  run: (call) => withService(call, (service) => rotate(call, service)),
};

async function rotate(call: Call, service: Service): Promise<number> {
  const alg = choice("alg", optionalText(call.values, "alg") ?? "ES256", algorithms);
  const compromised = call.values.compromised === true;
  const { id: orgId } = await organisationOf(service, call.values);
  const key = await service.keys.rotate(orgId, alg, { actor: OPERATOR, compromised });
  const keys = await listSigningKeys(service.database.query, orgId);
  const shown = record(key, keys, service.clock());
  return answer(call, shown, () => [
    ...fields({ kid: shown.kid, alg: shown.alg, state: shown.state, "signs from": shown.activeFrom }),
    "",
    compromised
      ? "The old keys are gone from the JWKS. Who has read it before may keep it for five minutes."
      : "The old key stays published until the last token that it signed has expired.",
  ]);
}

export const keysCommands: readonly Command[] = [keysList, keysRotate];
