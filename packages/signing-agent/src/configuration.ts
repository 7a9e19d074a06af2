/** `agent.yaml`: which pool this agent serves, where its keys and files are. What it may sign is the policy's matter. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { agentAlgs } from "@signet/protocol/agent-signature";
import { isUuid } from "@signet/protocol/hash";
import { isServiceAddress } from "@signet/protocol/service-address";
import { type Static, Type } from "typebox";
import { InvalidFile, parseYaml } from "./yaml-file.ts";

const closed = { additionalProperties: false };
const text = (description: string) => Type.String({ minLength: 1, description });
const file = (what: string) => text(`the path of ${what}`);
const uuid = (of: string) => Type.String({ pattern: "^[0-9a-fA-F-]{36}$", description: `the UUID of ${of}` });
const count = (minimum: number, maximum: number) =>
  Type.Integer({ minimum, maximum, description: `a whole number from ${minimum} to ${maximum}` });

const keyPlaceSchema = Type.Object(
  {
    file: Type.Optional(file("a private key in PEM")),
    pkcs11: Type.Optional(
      Type.Object(
        {
          library: file("the token's PKCS#11 library"),
          token: text("the token's label"),
          pinFile: file("a file with the PIN"),
          key: text("the key's label"),
          sessions: Type.Optional(count(1, 64)),
        },
        closed,
      ),
    ),
    module: Type.Optional(
      Type.Object(
        { path: file("a module"), options: Type.Optional(Type.Record(Type.String(), Type.Unknown())) },
        closed,
      ),
    ),
    alg: Type.Optional(Type.Enum([...agentAlgs])),
    chain: Type.Optional(file("the key's certificates in PEM")),
  },
  closed,
);
export type KeyPlace = Static<typeof keyPlaceSchema>;

const configurationSchema = Type.Object(
  {
    service: text("the service's address, e.g. https://id.example"),
    organisation: uuid("the organisation"),
    pool: uuid("the signing pool"),
    apiKeyFile: file("a file with the agent's API key"),
    policyFile: file("the policy"),
    journalFile: file("the journal"),
    keys: Type.Array(keyPlaceSchema, { minItems: 1 }),
    challenges: Type.Optional(
      Type.Object(
        {
          channel: Type.Optional(Type.Enum(["terminal", "webhook"])),
          webhook: Type.Optional(
            Type.Object({ url: text("an https address"), secretFile: file("a file with a secret") }, closed),
          ),
          webauthn: Type.Optional(
            Type.Object(
              {
                rpId: text("the service's host name"),
                origins: Type.Array(text("an origin, e.g. https://id.example"), { minItems: 1 }),
                credentialsFile: file("the users' passkeys"),
                userVerification: Type.Optional(Type.Boolean()),
              },
              closed,
            ),
          ),
        },
        closed,
      ),
    ),
    metrics: Type.Optional(
      Type.Object({ host: Type.Optional(text("an address")), port: count(0, 65_535) }, closed),
    ),
  },
  closed,
);

export type Configuration = Static<typeof configurationSchema>;

/** With every path made absolute: relative ones start at the file's own folder. @throws InvalidFile */
export async function readConfiguration(file: string): Promise<Configuration> {
  const configuration = parseYaml(configurationSchema, await readFile(file, "utf8"), file);
  const faults = faultsOf(configuration);
  if (faults.length > 0)
    throw new InvalidFile(
      file,
      faults.map((message) => ({ line: undefined, message })),
    );
  return withAbsolutePaths(configuration, path.dirname(path.resolve(file)));
}

function faultsOf({ service, organisation, pool, keys, challenges = {} }: Configuration): string[] {
  const places = keys.map(({ file, pkcs11, module }) => [file, pkcs11, module].filter(Boolean).length);
  return [
    ...(isServiceAddress(service) ? [] : ["service must be an https address, or http on this machine"]),
    ...(isUuid(organisation) ? [] : ["organisation must be a UUID"]),
    ...(isUuid(pool) ? [] : ["pool must be a UUID"]),
    ...places.flatMap((count, index) =>
      count === 1 ? [] : [`keys.${index} must have one of file, pkcs11, module`],
    ),
    ...(challenges.channel === "webhook" && !challenges.webhook ? ["challenges.webhook is missing"] : []),
    ...(challenges.webhook && !isServiceAddress(challenges.webhook.url)
      ? ["challenges.webhook.url must be an https address, or http on this machine"]
      : []),
  ];
}

function withAbsolutePaths(configuration: Configuration, folder: string): Configuration {
  const absolute = (file: string) => path.resolve(folder, file);
  const { webhook, webauthn } = configuration.challenges ?? {};
  return {
    ...configuration,
    organisation: configuration.organisation.toLowerCase(),
    pool: configuration.pool.toLowerCase(),
    apiKeyFile: absolute(configuration.apiKeyFile),
    policyFile: absolute(configuration.policyFile),
    journalFile: absolute(configuration.journalFile),
    keys: configuration.keys.map((key) => absoluteKeyPlace(key, absolute)),
    ...(configuration.challenges && {
      challenges: {
        ...configuration.challenges,
        ...(webhook && { webhook: { ...webhook, secretFile: absolute(webhook.secretFile) } }),
        ...(webauthn && { webauthn: { ...webauthn, credentialsFile: absolute(webauthn.credentialsFile) } }),
      },
    }),
  };
}

function absoluteKeyPlace(place: KeyPlace, absolute: (file: string) => string): KeyPlace {
  const { file, chain, pkcs11, module } = place;
  return {
    ...place,
    ...(file !== undefined && { file: absolute(file) }),
    ...(chain !== undefined && { chain: absolute(chain) }),
    // A library without a slash is found by the loader's own search.
    ...(pkcs11 && {
      pkcs11: {
        ...pkcs11,
        pinFile: absolute(pkcs11.pinFile),
        library: pkcs11.library.includes("/") ? absolute(pkcs11.library) : pkcs11.library,
      },
    }),
    ...(module && { module: { ...module, path: absolute(module.path) } }),
  };
}
