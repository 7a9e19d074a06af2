/** `signet client-id-metadata-policy …`: which clients are taken that are known by a metadata document alone. */
import { agentConstraints, policyModes } from "../../core/client-metadata/client-policy.ts";
import {
  type Command,
  choice,
  definedOnly,
  optionalText,
  type RecordCall,
  repeatedText,
  UsageError,
} from "../command.ts";
import type { Wire } from "../remote/api-types.ts";
import { printRecord } from "../remote/named-records.ts";

const PATH = "/client-id-metadata-policy";

export const clientIdMetadataPolicyCommands: readonly Command[] = [
  {
    name: "client-id-metadata-policy show",
    summary: "show which clients with a metadata document are taken, and what they may have",
    runByApi: async (call) => printRecord(call, await call.api.read(PATH)),
  },
  {
    name: "client-id-metadata-policy set",
    summary: "change which clients with a metadata document are taken; what is left out stays",
    usage: "--org ID [--mode MODE] [options]",
    options: {
      mode: { value: "MODE", help: "off, allowlist (the hosts named) or any" },
      host: { value: "HOST", multiple: true, help: "host or host:port that is taken; repeatable" },
      scope: { value: "NAME", multiple: true, help: "scope that they may request; repeatable" },
      resource: { value: "URI", multiple: true, help: "resource that they may name; repeatable" },
      "sender-constraint": { value: "KIND", help: "preferred, or required: tokens are bound by DPoP" },
    },
    examples: ["signet client-id-metadata-policy set --org 01998d6e-… --mode allowlist --host agent.example"],
    runByApi: async (call) => {
      const changed = changes(call);
      if (Object.keys(changed).length === 0) throw new UsageError("name what changes, such as --mode");
      const before = await call.api.read<Wire>(PATH);
      const kept = Object.fromEntries(MEMBERS.map((member) => [member, before[member]]));
      return printRecord(call, await call.api.send("PUT", PATH, { ...kept, ...changed }), "Saved.");
    },
  },
];

const MEMBERS = ["mode", "hosts", "allowedScopes", "allowedResources", "senderConstraint"] as const;

function changes({ values }: RecordCall) {
  const mode = optionalText(values, "mode");
  const constraint = optionalText(values, "sender-constraint");
  const given = (name: string) => {
    const all = repeatedText(values, name);
    return all.length > 0 ? all : undefined;
  };
  return definedOnly({
    mode: mode && choice("mode", mode, policyModes),
    hosts: given("host"),
    allowedScopes: given("scope"),
    allowedResources: given("resource"),
    senderConstraint: constraint && choice("sender-constraint", constraint, agentConstraints),
  });
}
