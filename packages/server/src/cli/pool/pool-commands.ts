/** `signet pool …`: signing pools, whose agents sign an organisation's tokens. */
import { readFileSync } from "node:fs";
import { agentAlgs } from "@signet/protocol/agent-signature";
import { listPoolKeys } from "../../core/signing-pools/agent-key.store.ts";
import { findPool, listPools } from "../../core/signing-pools/signing-pool.store.ts";
import { issuerModes, type SigningPool } from "../../core/signing-pools/signing-pool.ts";
import { createPool, disablePool, type NewPool } from "../../features/sovereign/admin-api/pools.ts";
import type { Service } from "../../modules/open-service.ts";
import {
  type Call,
  type Command,
  choice,
  jsonOption,
  listArguments,
  optionalText,
  orgOption,
  recordArguments,
  requiredText,
  UsageError,
  type Values,
} from "../command.ts";
import { errorMessage } from "../error-message.ts";
import { enabledStatus, printList, printResult } from "../output.ts";
import { readDuration } from "../times.ts";
import { OPERATOR, readAll, requireOrganisation } from "../with-service.ts";
import { agentKeyRecord, agentKeyTable, poolFields, poolRecord } from "./pool-record.ts";

const poolCreate: Command = {
  name: "pool create",
  summary: "create a signing pool; its agents sign all tokens of the applications that use it",
  usage: "--org ID --name NAME [options]",
  options: {
    ...orgOption,
    name: { type: "string", value: "NAME", help: "name, up to 100 characters", required: true },
    alg: {
      type: "string",
      value: "ALG",
      multiple: true,
      help: `signing algorithm: ${agentAlgs.join(", ")}; repeatable (default ES256)`,
    },
    "max-token-lifetime": {
      type: "string",
      value: "TIME",
      help: "maximum token lifetime: seconds, or 15m, 1h; 60 to 86400 seconds (default 1h)",
    },
    "issuer-mode": {
      type: "string",
      value: "MODE",
      help: "issuer of the tokens: pool (default) or organisation",
    },
    "key-publish-delay": {
      type: "string",
      value: "TIME",
      help: "key activation delay: time between publishing and use (default 10m)",
    },
    "trusted-root": {
      type: "string",
      value: "FILE",
      multiple: true,
      help: "root certificate in PEM that key certificates must chain to; repeatable",
    },
    "require-x5c": { type: "boolean", help: "reject keys without a certificate" },
    ...jsonOption,
  },
  examples: [
    "signet pool create --org 01998d6e-… --name Headquarters",
    "signet pool create --org 01998d6e-… --name HSM --alg ES256 --alg PS256 --trusted-root root.pem --require-x5c",
  ],
  runWithService: async (service, call) => {
    const { id: orgId } = await requireOrganisation(service, call.values);
    const pool = await createPool(adminDeps(service), { orgId, actor: OPERATOR }, readPool(call.values));
    return printResult(call, poolRecord(service, pool), () => poolFields(service, pool));
  },
};

const poolList: Command = {
  name: "pool list",
  summary: "list the organisation's signing pools",
  ...listArguments,
  runWithService: async (service, call) => {
    const { id: orgId } = await requireOrganisation(service, call.values);
    const list = await readAll(call.values, (page) => listPools(service.database.query, orgId, page));
    return printList(call, list, {
      record: (pool) => poolRecord(service, pool),
      headings: ["ID", "NAME", "ALGORITHMS", "ISSUER MODE", "STATUS"],
      row: ({ id, name, algs, issuerMode, disabledAt }) => [
        id,
        name,
        algs.join(" "),
        issuerMode,
        enabledStatus(disabledAt),
      ],
      none: "The organisation has no signing pools yet: signet pool create --org … --name …",
    });
  },
};

const poolShow: Command = {
  name: "pool show",
  summary: "show a signing pool and its keys",
  ...recordArguments,
  runWithService: async (service, call) => {
    const pool = await requirePool(service, call);
    const keys = await listPoolKeys(service.database.query, pool.orgId, pool.id);
    const now = service.clock();
    const record = { ...poolRecord(service, pool), keys: keys.map((key) => agentKeyRecord(key, now)) };
    return printResult(call, record, () => [...poolFields(service, pool), "", ...agentKeyTable(keys, now)]);
  },
};

const poolDisable: Command = {
  name: "pool disable",
  summary: "disable a pool: no further tokens are signed; issued tokens stay valid",
  ...recordArguments,
  runWithService: (service, call) => setDisabled(service, call, true),
};

const poolEnable: Command = {
  name: "pool enable",
  summary: "enable a disabled pool",
  ...recordArguments,
  runWithService: (service, call) => setDisabled(service, call, false),
};

async function setDisabled(service: Service, call: Call, disabled: boolean): Promise<number> {
  const { id, name, orgId } = await requirePool(service, call);
  const by = { orgId, actor: OPERATOR };
  const changed = await disablePool(adminDeps(service), by, { id, disabled });
  const status = disabled ? "disabled" : "enabled";
  return printResult(call, { poolId: id, changed }, () => [
    changed ? `"${name}" is now ${status}.` : `"${name}" was already ${status}.`,
  ]);
}

export const adminDeps = (service: Service) => ({ ...service, baseUrl: service.config.baseUrl });

/** The pool of the positional argument. @throws when it isn't in the organisation */
async function requirePool(
  service: Service,
  { values, positionals: [id] }: Pick<Call, "values" | "positionals">,
): Promise<SigningPool> {
  if (id === undefined) throw new UsageError("the ID of the pool is required");
  const organisation = await requireOrganisation(service, values);
  const pool = await findPool(service.database.query, organisation.id, id.toLowerCase());
  if (!pool) throw new Error(`there is no signing pool "${id}" in this organisation`);
  return pool;
}

function readPool(values: Values): NewPool {
  const lifetime = optionalText(values, "max-token-lifetime") ?? "1h";
  const delay = optionalText(values, "key-publish-delay");
  const mode = optionalText(values, "issuer-mode");
  const roots = readRepeated(values, "trusted-root");
  return {
    name: requiredText(values, "name"),
    algs:
      values.alg === undefined
        ? ["ES256"]
        : readRepeated(values, "alg").map((alg) => choice("alg", alg, agentAlgs)),
    maxTokenLifetimeSeconds: readDuration(lifetime, "max-token-lifetime"),
    ...(mode === undefined ? {} : { issuerMode: choice("issuer-mode", mode, issuerModes) }),
    ...(delay === undefined ? {} : { keyPublishDelaySeconds: readDuration(delay, "key-publish-delay") }),
    trustedRoots: roots.map(readRoot),
    requireX5c: values["require-x5c"] === true,
  };
}

const readRepeated = (values: Values, name: string): string[] =>
  values[name] === undefined ? [] : [values[name]].flat().map(String);

function readRoot(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    throw new Error(`--trusted-root ${path}: ${errorMessage(error)}`);
  }
}

export const poolCommands: readonly Command[] = [poolCreate, poolList, poolShow, poolDisable, poolEnable];
