/** Checks a policy, or tries it on a sample token, before an agent uses it. */
import { readFile } from "node:fs/promises";
import { optionalText, UsageError, type Values } from "@signet/cli-runtime/command";
import { Refusal } from "../agent/refusal.ts";
import { grantNames, parsePolicy } from "../policy/policy.ts";
import { readSample, trySample } from "../policy/sample-token.ts";
import type { AgentCommand } from "./options.ts";

const policyOption = {
  policy: { type: "string", value: "FILE", help: "policy file (default: policy.yaml)" },
} as const;

export const policyCheckCommand: AgentCommand = {
  name: "policy check",
  summary: "check a policy for errors and show what it allows",
  usage: "[--policy FILE]",
  options: policyOption,
  run: async ({ values, io }) => {
    const { issuer, clients, limits } = await readPolicy(values);
    io.print(`Issuer ${issuer}`);
    for (const [id, { aud, scopes, grants, challenge }] of clients) {
      const asks = challenge ? `; ${challenge.type} when ${String(challenge.when)}` : "";
      const allowed = `${grants.join(", ")}; audiences ${aud.join(" ")}; scopes ${scopes.join(" ")}`;
      io.print(`Client ${id}: ${allowed}${asks}`);
    }
    io.print(`Limits ${JSON.stringify(limits)}`);
    return 0;
  },
};

export const policyTestCommand: AgentCommand = {
  name: "policy test",
  summary: "show whether a sample token would be signed",
  usage: "SAMPLE [--policy FILE] [--grant GRANT]",
  options: {
    ...policyOption,
    grant: { type: "string", value: "GRANT", help: `${grantNames.join(", ")} (default: authorization_code)` },
  },
  maxPositionals: 1,
  run: async ({ values, positionals, io }) => {
    const [file] = positionals;
    if (file === undefined) throw new UsageError("SAMPLE is missing");
    const policy = await readPolicy(values);
    const sample = readSample(await readFile(file, "utf8"));
    try {
      const { challenge } = await trySample(
        policy,
        sample,
        optionalText(values, "grant") ?? "authorization_code",
      );
      io.print(challenge === undefined ? "signed" : `signed once the user passes ${challenge}`);
      return 0;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      io.print(`refused (${error.reason}, ${error.check}): ${error.message}`);
      return 1;
    }
  },
};

async function readPolicy(values: Values) {
  const file = optionalText(values, "policy") ?? "policy.yaml";
  return parsePolicy(await readFile(file, "utf8"), file);
}
