/** `signet sign-in …`: what signs in to an organisation, and in which order (connections.md §1). */
import { passkeyEnrolments, signInMethods } from "../../core/organisations/sign-in-methods.ts";
import {
  type Command,
  choice,
  definedOnly,
  optionalChoice,
  type RecordCall,
  repeatedText,
  UsageError,
} from "../command.ts";
import type { Wire } from "../remote/api-types.ts";
import { printRecord } from "../remote/named-records.ts";

export const signInCommands: readonly Command[] = [
  {
    name: "sign-in show",
    summary: "show what signs in, in the order of the sign-in page",
    usage: "--org ID [--json]",
    runByApi: async (call) => printRecord(call, await call.api.read("/sign-in")),
  },
  {
    name: "sign-in set",
    summary: "change what signs in, its order, or whether passkeys are asked for",
    usage: "--org ID [--method METHOD]… [--passkey-enrolment CHOICE] [--json]",
    options: {
      method: {
        value: "METHOD",
        multiple: true,
        help: `${signInMethods.join(", ")}; repeatable, in the order of the page`,
      },
      "passkey-enrolment": { value: "CHOICE", help: passkeyEnrolments.join(", ") },
    },
    examples: ["signet sign-in set --org 01998d6e-… --method passkey --method emailCode"],
    runByApi: async (call) => {
      const changes = readChanges(call);
      if (Object.keys(changes).length === 0)
        throw new UsageError("one of --method, --passkey-enrolment is required");
      const changed = await call.api.replace("/sign-in", (before) => ({ ...before, ...changes }));
      return printRecord(call, changed, "Changed.");
    },
  },
];

/** @throws UsageError */
function readChanges({ values }: RecordCall): Wire {
  const methods = repeatedText(values, "method").map((method) => choice("method", method, signInMethods));
  return definedOnly({
    methods: methods.length > 0 ? methods : undefined,
    passkeyEnrolment: optionalChoice(values, "passkey-enrolment", passkeyEnrolments),
  });
}
