/** Commands that check files without the service: a policy, a policy tried on a sample token, a journal. */
import { readFile } from "node:fs/promises";
import { optionalText, textOption, UsageError, type Values } from "@signet/cli-runtime/command";
import { Refusal } from "../agent/refusal.ts";
import { verifyJournal } from "../journal/verify-journal.ts";
import { grantNames, messageUses, type Policy, parsePolicy } from "../policy/policy.ts";
import { readMessageSample, readSample, tryMessage, trySample } from "../policy/sample-token.ts";
import type { AgentCommand } from "./options.ts";

const policyOption = {
  policy: textOption("FILE", "policy file (default: policy.yaml)"),
};

export const policyCheckCommand: AgentCommand = {
  name: "policy check",
  summary: "check a policy for errors and show what it allows",
  usage: "[--policy FILE]",
  options: policyOption,
  run: async ({ values, io }) => {
    const { issuer, clients, limits } = await readPolicy(values);
    io.print(`Issuer ${issuer}`);
    for (const [id, { aud, scopes, grants, challenge, messages = [], idJag }] of clients) {
      const asks = challenge ? `; ${challenge.type} when ${String(challenge.when)}` : "";
      const allowed = `${grants.join(", ")}; audiences ${aud.join(" ")}; scopes ${scopes.join(" ")}`;
      const more = messages.length === 0 ? "" : `; messages ${messages.join(" ")}`;
      const servers = idJag
        ? `; assertions for ${idJag.aud.join(" ")}, scopes ${idJag.scopes.join(" ")}`
        : "";
      io.print(`Client ${id}: ${allowed}${more}${servers}${asks}`);
    }
    io.print(`Limits ${JSON.stringify(limits)}`);
    return 0;
  },
};

export const policyTestCommand: AgentCommand = {
  name: "policy test",
  summary: "show whether a sample token or message would be signed",
  usage: "SAMPLE [--policy FILE] [--grant GRANT | --use USE [--client CLIENT_ID]]",
  options: {
    ...policyOption,
    grant: textOption("GRANT", `${grantNames.join(", ")} (default: authorization_code)`),
    use: textOption("USE", `the sample is a message: ${messageUses.join(", ")}`),
    client: textOption("CLIENT_ID", "whom the message is signed for, where it does not say so itself"),
  },
  maxPositionals: 1,
  run: async ({ values, positionals, io }) => {
    const [file] = positionals;
    if (file === undefined) throw new UsageError("SAMPLE is missing");
    const policy = await readPolicy(values);
    const text = await readFile(file, "utf8");
    try {
      const { challenge } = await tried(policy, text, values);
      io.print(challenge === undefined ? "signed" : `signed once the user passes ${challenge}`);
      return 0;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      io.print(`refused (${error.reason}, ${error.check}): ${error.message}`);
      return 1;
    }
  },
};

function tried(policy: Policy, text: string, values: Values): ReturnType<typeof trySample> {
  const named = optionalText(values, "use");
  if (named === undefined)
    return trySample(policy, readSample(text), optionalText(values, "grant") ?? "authorization_code");
  const use = messageUses.find((one) => one === named);
  if (use === undefined) throw new UsageError(`--use must be one of ${messageUses.join(", ")}`);
  return tryMessage(policy, use, readMessageSample(text), optionalText(values, "client"));
}

async function readPolicy(values: Values) {
  const file = optionalText(values, "policy") ?? "policy.yaml";
  return parsePolicy(await readFile(file, "utf8"), file);
}

export const journalVerifyCommand: AgentCommand = {
  name: "journal verify",
  summary: "verify that no journal entry was changed, removed or inserted",
  usage: "FILE… [--head HASH]",
  options: {
    head: textOption("HASH", "hash of the last entry, from the log or a copy kept elsewhere"),
  },
  maxPositionals: 1_000,
  run: async ({ values, positionals, io }) => {
    if (positionals.length === 0) throw new UsageError("FILE is missing");
    const { first, last, entries, fault, isTorn } = await verifyJournal(positionals);
    if (fault) {
      io.print(`${fault.file}:${fault.line} ${fault.message}`);
      return 1;
    }
    const head = optionalText(values, "head");
    if (head !== undefined && head !== last.hash) {
      io.print(
        `the last hash is ${last.hash}, not ${head}: entries are missing at the end, or newer ones exist`,
      );
      return 1;
    }
    if (isTorn) io.print("The last line is incomplete: the machine went down while it was written");
    const range = `${entries} entries, ${first?.seq} to ${last.seq}`;
    io.print(entries === 0 ? "No entries" : `${range}: the chain is intact; last hash ${last.hash}`);
    return 0;
  },
};
