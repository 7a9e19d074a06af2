/** `signet pool …`: groups of agents that hold the keys which sign an organisation's tokens. */
import { readFileSync } from "node:fs";
import { agentAlgs } from "@signet/protocol/agent-signature";
import type { Organisation } from "../../core/organisations/organisation.ts";
import { listKeysOfPool } from "../../core/signing-pools/agent-key.store.ts";
import { findPool, listPools } from "../../core/signing-pools/signing-pool.store.ts";
import { issuerModes, type SigningPool } from "../../core/signing-pools/signing-pool.ts";
import type { NewPool } from "../../features/sovereign/admin-api/pool-settings.ts";
import { createPool, disablePool } from "../../features/sovereign/admin-api/pools.ts";
import type { Service } from "../../modules/open-service.ts";
import { answer, answerList, limitOption, stateOf } from "../answer.ts";
import {
  type Call,
  type Command,
  choice,
  jsonOption,
  optionalText,
  orgOption,
  requiredText,
  UsageError,
  type Values,
} from "../command.ts";
import { reasonOf } from "../reason.ts";
import { readDuration } from "../times.ts";
import { OPERATOR, organisationOf, readAll, withService } from "../with-service.ts";
import { agentKeyRecord, agentKeyTable, poolFields, poolRecord } from "./pool-record.ts";

const poolCreate: Command = {
  name: "pool create",
  summary: "make a pool of signing agents: applications that name it get their tokens from these alone",
  usage: "--org ID --name NAME [options]",
  options: {
    ...orgOption,
    name: { type: "string", value: "NAME", help: "up to 100 characters", required: true },
    alg: {
      type: "string",
      value: "ALG",
      multiple: true,
      help: `what its keys sign with: ${agentAlgs.join(", ")}; repeatable (default ES256)`,
    },
    "max-token-lifetime": {
      type: "string",
      value: "TIME",
      help: "seconds, or 15m, 1h: the most that its tokens live, from 60 to 86400 seconds (default 1h)",
    },
    "issuer-mode": {
      type: "string",
      value: "MODE",
      help: "whether its tokens name the pool (default) or the organisation as their issuer",
    },
    "key-publish-delay": {
      type: "string",
      value: "TIME",
      help: "how long a new key is published before it signs (default 10m)",
    },
    "trusted-root": {
      type: "string",
      value: "FILE",
      multiple: true,
      help: "a root certificate in PEM that the certificates of its keys must chain to; repeatable",
    },
    "require-x5c": { type: "boolean", help: "keys without certificates are refused" },
    ...jsonOption,
  },
  examples: [
    "signet pool create --org 01998d6e-… --name Headquarters",
    "signet pool create --org 01998d6e-… --name HSM --alg ES256 --alg PS256 --trusted-root root.pem --require-x5c",
  ],
  run: (call) =>
    withService(call, async (service) => {
      const { id: orgId } = await organisationOf(service, call.values);
      const pool = await createPool(adminDeps(service), { orgId, actor: OPERATOR }, readPool(call.values));
      return answer(call, poolRecord(service, pool), () => poolFields(service, pool));
    }),
};

const poolList: Command = {
  name: "pool list",
  summary: "list the organisation's signing pools",
  usage: "--org ID [--limit COUNT] [--json]",
  options: { ...orgOption, ...limitOption, ...jsonOption },
  run: (call) =>
    withService(call, async (service) => {
      const { id: orgId } = await organisationOf(service, call.values);
      const list = await readAll(call.values, (page) => listPools(service.database.query, orgId, page));
      return answerList(call, list, {
        record: (pool) => poolRecord(service, pool),
        headings: ["ID", "NAME", "ALGORITHMS", "ISSUER MODE", "STATE"],
        row: ({ id, name, algs, issuerMode, disabledAt }) => [
          id,
          name,
          algs.join(" "),
          issuerMode,
          stateOf(disabledAt),
        ],
        none: "The organisation has no signing pools yet: signet pool create --org … --name …",
      });
    }),
};

const poolShow: Command = {
  name: "pool show",
  summary: "show a signing pool, and the state of its keys",
  usage: "ID --org ID [--json]",
  positionals: 1,
  options: { ...orgOption, ...jsonOption },
  run: (call) =>
    withService(call, async (service) => {
      const { pool } = await poolOf(service, call);
      const keys = await listKeysOfPool(service.database.query, pool.orgId, pool.id);
      const now = service.clock();
      const record = { ...poolRecord(service, pool), keys: keys.map((key) => agentKeyRecord(key, now)) };
      return answer(call, record, () => [...poolFields(service, pool), "", ...agentKeyTable(keys, now)]);
    }),
};

const poolDisable = onState("disable", "sign nothing any more with a pool; what was issued stays valid");
const poolEnable = onState("enable", "let a disabled pool sign again");

function onState(verb: "disable" | "enable", summary: string): Command {
  const disabled = verb === "disable";
  return {
    name: `pool ${verb}`,
    summary,
    usage: "ID --org ID [--json]",
    positionals: 1,
    options: { ...orgOption, ...jsonOption },
    run: (call) =>
      withService(call, async (service) => {
        const { pool, organisation } = await poolOf(service, call);
        const by = { orgId: organisation.id, actor: OPERATOR };
        const changed = await disablePool(adminDeps(service), by, { id: pool.id, disabled });
        return answer(call, { poolId: pool.id, changed }, () => [
          changed ? `"${pool.name}" is ${verb}d.` : `"${pool.name}" was ${verb}d already.`,
        ]);
      }),
  };
}

export const adminDeps = (service: Service) => ({ ...service, baseUrl: service.config.baseUrl });

/** The pool of the only positional argument. @throws when the organisation has none such */
async function poolOf(
  service: Service,
  { values, positionals: [id] }: Pick<Call, "values" | "positionals">,
): Promise<{ pool: SigningPool; organisation: Organisation }> {
  if (id === undefined) throw new UsageError("name the pool by its ID");
  const organisation = await organisationOf(service, values);
  const pool = await findPool(service.database.query, organisation.id, id.toLowerCase());
  if (!pool) throw new Error(`there is no signing pool "${id}" in this organisation`);
  return { pool, organisation };
}

function readPool(values: Values): NewPool {
  const lifetime = optionalText(values, "max-token-lifetime") ?? "1h";
  const delay = optionalText(values, "key-publish-delay");
  const mode = optionalText(values, "issuer-mode");
  const roots = listOf(values, "trusted-root");
  return {
    name: requiredText(values, "name"),
    algs:
      values.alg === undefined
        ? ["ES256"]
        : listOf(values, "alg").map((alg) => choice("alg", alg, agentAlgs)),
    maxTokenLifetimeSeconds: readDuration(lifetime, "max-token-lifetime"),
    ...(mode === undefined ? {} : { issuerMode: choice("issuer-mode", mode, issuerModes) }),
    ...(delay === undefined ? {} : { keyPublishDelaySeconds: readDuration(delay, "key-publish-delay") }),
    trustedRoots: roots.map(readRoot),
    requireX5c: values["require-x5c"] === true,
  };
}

const listOf = (values: Values, name: string): string[] =>
  values[name] === undefined ? [] : [values[name]].flat().map(String);

function readRoot(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    throw new Error(`--trusted-root ${path}: ${reasonOf(error)}`);
  }
}

export const poolCommands: readonly Command[] = [poolCreate, poolList, poolShow, poolDisable, poolEnable];
