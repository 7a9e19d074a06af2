/** `signet portal-link …`: one-time links to the connection pages of an organisation (connections.md §1). */
import {
  type Command,
  choice,
  definedOnly,
  limitOption,
  optionalText,
  repeatedText,
  UsageError,
} from "../command.ts";
import { deleteRecord, pathOf, printRecord, printRecords, yesOption } from "../remote/named-records.ts";

const purposes = ["connections", "domains", "scim"] as const;

export const portalLinkCommands: readonly Command[] = [
  {
    name: "portal-link list",
    summary: "list the portal links of the last seven days, and what became of them",
    usage: "--org ID [--limit COUNT] [--json]",
    options: limitOption,
    runByApi: (call) =>
      printRecords(call, "/portal-links", {
        columns: {
          ...{ ID: "id", PURPOSES: "purposes", STATUS: "state" },
          ...{ "OPENED AT": "openedAt", "CREATED AT": "createdAt" },
        },
        none: "There are no portal links: signet portal-link create --org … --purpose connections",
      }),
  },
  {
    name: "portal-link create",
    summary: "print a link that opens the connection pages once, within an hour, without an account",
    usage: "--org ID --purpose PURPOSE… [--return-url URL] [--json]",
    options: {
      purpose: { value: "PURPOSE", multiple: true, help: "connections, domains or scim; repeatable" },
      "return-url": { value: "URL", help: "where its pages lead back to; registered with an application" },
    },
    examples: ["signet portal-link create --org 01998d6e-… --purpose connections --purpose domains"],
    runByApi: async (call) => {
      const wanted = repeatedText(call.values, "purpose").map((one) => choice("purpose", one, purposes));
      if (wanted.length === 0) throw new UsageError("--purpose is required");
      const body = definedOnly({ purposes: wanted, returnUrl: optionalText(call.values, "return-url") });
      const link = await call.api.send("POST", "/portal-links", body);
      return printRecord(call, link, "Created. The URL is shown once: whoever opens it first has the pages.");
    },
  },
  {
    name: "portal-link delete",
    summary: "delete a portal link: what it opened ends too",
    usage: "ID --org ID [--yes] [--json]",
    positionals: 1,
    options: yesOption,
    runByApi: (call) =>
      deleteRecord(call, pathOf(call, "/portal-links", "portal link"), {
        what: "portal link",
        name: "state",
      }),
  },
];
