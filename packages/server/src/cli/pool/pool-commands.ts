/** `signet pool …`: signing pools, whose agents sign an organisation's tokens. */
import { readFileSync } from "node:fs";
import { agentAlgs } from "@signet/protocol/agent-signature";
import { listPoolKeys } from "../../core/signing-pools/agent-key.store.ts";
import { findPool, listPools } from "../../core/signing-pools/signing-pool.store.ts";
import { issuerModes, type SigningPool } from "../../core/signing-pools/signing-pool.ts";
import { createPool, disablePool, type NewPool } from "../../features/sovereign/admin-api/pools.ts";
import type { Service } from "../../modules/open-service.ts";
import {
  type Command,
  choice,
  definedOnly,
  listArguments,
  type OrganisationCall,
  optionalChoice,
  optionalText,
  repeatedText,
  requiredText,
  UsageError,
  type Values,
} from "../command.ts";
import { enabledStatus, errorMessage, printList, printResult } from "../output.ts";
import { readDuration } from "../times.ts";
import { readList, requireRecord } from "../with-service.ts";
import { agentKeyRecord, agentKeyTable, poolFields, poolRecord } from "./pool-record.ts";

export const poolCommands: readonly Command[] = [
  {
    name: "pool create",
    summary: "create a signing pool; its agents sign all tokens of the applications that use it",
    usage: "--org ID --name NAME [options]",
    options: {
      name: { value: "NAME", help: "name, up to 100 characters", required: true },
      alg: {
        value: "ALG",
        multiple: true,
        help: `signing algorithm: ${agentAlgs.join(", ")}; repeatable (default ES256)`,
      },
      "max-token-lifetime": {
        value: "TIME",
        help: "maximum token lifetime: seconds, or 15m, 1h; 60 to 86400 seconds (default 1h)",
      },
      "issuer-mode": { value: "MODE", help: "issuer of the tokens: pool (default) or organisation" },
      "key-publish-delay": {
        value: "TIME",
        help: "key activation delay: time between publishing and use (default 10m)",
      },
      "trusted-root": {
        value: "FILE",
        multiple: true,
        help: "root certificate in PEM that key certificates must chain to; repeatable",
      },
      "require-x5c": { help: "reject keys without a certificate" },
      approvals: {
        value: "M",
        help: "agents that approve each signature, the one that signs among them: 1 (default) to 9",
      },
      threshold: {
        value: "M/N",
        help: "the key exists nowhere: M of N agents sign together, 2 <= M <= N <= 9; signs EdDSA",
      },
    },
    examples: [
      "signet pool create --org 01998d6e-… --name Headquarters",
      "signet pool create --org 01998d6e-… --name Together --threshold 2/3",
      "signet pool create --org 01998d6e-… --name Both --approvals 2",
      "signet pool create --org 01998d6e-… --name HSM --alg ES256 --alg PS256 --trusted-root root.pem --require-x5c",
    ],
    runInOrganisation: async (call) => {
      const { service, values } = call;
      const wanted = readPool(values);
      const pool = await createPool(adminDeps(service), call.by, wanted);
      return printResult(call, poolRecord(service, pool), () => poolFields(service, pool));
    },
  },
  {
    name: "pool list",
    summary: "list the organisation's signing pools",
    ...listArguments,
    runInOrganisation: (call) =>
      printList(call, readList(call, listPools), {
        record: (pool) => poolRecord(call.service, pool),
        columns: {
          ID: "poolId",
          NAME: "name",
          ALGORITHMS: ({ algs }) => algs.join(" "),
          "ISSUER MODE": "issuerMode",
          STATUS: enabledStatus,
        },
        none: "The organisation has no signing pools yet: signet pool create --org … --name …",
      }),
  },
  {
    name: "pool show",
    summary: "show a signing pool and its keys",
    positionals: 1,
    runInOrganisation: async (call) => {
      const { service } = call;
      const pool = await requirePool(call);
      const keys = await listPoolKeys(service.database.query, pool.orgId, pool.id);
      const now = service.clock();
      const record = { ...poolRecord(service, pool), keys: keys.map((key) => agentKeyRecord(key, now)) };
      return printResult(call, record, () => [...poolFields(service, pool), "", ...agentKeyTable(keys, now)]);
    },
  },
  {
    name: "pool disable",
    summary: "disable a pool: no further tokens are signed; issued tokens stay valid",
    positionals: 1,
    runInOrganisation: (call) => setDisabled(call, true),
  },
  {
    name: "pool enable",
    summary: "enable a disabled pool",
    positionals: 1,
    runInOrganisation: (call) => setDisabled(call, false),
  },
];

async function setDisabled(call: OrganisationCall, disabled: boolean): Promise<number> {
  const { id, name } = await requirePool(call);
  const changed = await disablePool(adminDeps(call.service), call.by, { id, disabled });
  const status = disabled ? "disabled" : "enabled";
  return printResult(call, { poolId: id, changed }, () => [
    changed ? `"${name}" is now ${status}.` : `"${name}" was already ${status}.`,
  ]);
}

export const adminDeps = (service: Service) => ({ ...service, baseUrl: service.config.baseUrl });

const requirePool = (call: OrganisationCall): Promise<SigningPool> =>
  requireRecord(call, "signing pool", (id) =>
    findPool(call.service.database.query, call.organisation.id, id),
  );

/** @throws UsageError */
export function readPool(values: Values): NewPool {
  const lifetime = optionalText(values, "max-token-lifetime") ?? "1h";
  const delay = optionalText(values, "key-publish-delay");
  const algs = repeatedText(values, "alg").map((alg) => choice("alg", alg, agentAlgs));
  const threshold = readThreshold(optionalText(values, "threshold"));
  const approvals = readApprovals(optionalText(values, "approvals"));
  return {
    name: requiredText(values, "name"),
    algs: algs.length === 0 ? [threshold ? "EdDSA" : "ES256"] : algs,
    maxTokenLifetimeSeconds: readDuration(lifetime, "max-token-lifetime"),
    ...definedOnly({
      issuerMode: optionalChoice(values, "issuer-mode", issuerModes),
      keyPublishDelaySeconds: delay === undefined ? undefined : readDuration(delay, "key-publish-delay"),
    }),
    trustedRoots: repeatedText(values, "trusted-root").map(readRoot),
    requireX5c: values["require-x5c"] === true,
    ...(threshold ? { threshold } : {}),
    ...(approvals === undefined ? {} : { approvals }),
  };
}

function readApprovals(text: string | undefined) {
  if (text === undefined) return undefined;
  if (!/^[1-9]$/.test(text)) throw new UsageError("--approvals must be 1 to 9");
  return Number(text);
}

function readThreshold(text: string | undefined) {
  if (text === undefined) return undefined;
  const [, min, max] = /^(\d)\/(\d)$/.exec(text) ?? [];
  if (min === undefined || max === undefined) throw new UsageError("--threshold must be like 2/3");
  return { min: Number(min), max: Number(max) };
}

function readRoot(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    throw new Error(`--trusted-root ${path}: ${errorMessage(error)}`);
  }
}
