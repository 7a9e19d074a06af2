/** A policy tried before it is used. */
import { readFile } from "node:fs/promises";
import { grantNames, parsePolicy } from "../policy/policy.ts";
import { InvalidSample, readSample, trySample } from "../policy/sample-token.ts";
import { Refusal } from "../refusal.ts";
import { type Command, optionalText, UsageError } from "./command.ts";

const policyOption = {
  policy: { type: "string", value: "FILE", help: "policy.yaml when left out" },
} as const;

export const policyCheckCommand: Command = {
  name: "policy check",
  summary: "look for faults in a policy",
  usage: "[--policy FILE]",
  options: policyOption,
  run: async ({ values, io }) => {
    const { issuer, clients, limits } = await readPolicy(optionalText(values, "policy"));
    io.print(`Issuer ${issuer}`);
    for (const [id, { aud, scopes, grants, challenge }] of clients)
      io.print(
        `Client ${id}: ${grants.join(", ")}; audiences ${aud.join(" ")}; scopes ${scopes.join(" ")}${challenge ? `; ${challenge.type} when ${String(challenge.when)}` : ""}`,
      );
    io.print(`Limits ${JSON.stringify(limits)}`);
    return 0;
  },
};

export const policyTestCommand: Command = {
  name: "policy test",
  summary: "say whether a sample token would be signed",
  usage: "SAMPLE [--policy FILE] [--grant GRANT]",
  options: {
    ...policyOption,
    grant: {
      type: "string",
      value: "GRANT",
      help: `${grantNames.join(", ")}; authorization_code when left out`,
    },
  },
  mostPositionals: 1,
  run: async ({ values, positionals, io }) => {
    const [file] = positionals;
    if (file === undefined) throw new UsageError("the file with the SAMPLE is missing");
    const policy = await readPolicy(optionalText(values, "policy"));
    const sample = readSampleOf(await readFile(file, "utf8"));
    try {
      const grant = optionalText(values, "grant") ?? "authorization_code";
      const { challenge } = await trySample(policy, sample, grant);
      io.print(challenge === undefined ? "signed" : `signed once the user passes ${challenge}`);
      return 0;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      io.print(`refused (${error.reason}, ${error.check}): ${error.message}`);
      return 1;
    }
  },
};

async function readPolicy(file = "policy.yaml") {
  return parsePolicy(await readFile(file, "utf8"), file);
}

function readSampleOf(text: string) {
  try {
    return readSample(text);
  } catch (error) {
    if (error instanceof InvalidSample) throw new UsageError(error.message);
    throw error;
  }
}
