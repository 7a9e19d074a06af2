/** `signet client-certificate-authority …`: authorities whose certificates authenticate clients (RFC 8705 §2.1). */
import { MAX_CERTIFICATE_LENGTH } from "../../core/client-authorities/client-authority.ts";
import { type Command, limitOption, type RecordCall, requiredText } from "../command.ts";
import { readOptionFile } from "../output.ts";
import { deleteRecord, pathOf, printRecord, printRecords, yesOption } from "../remote/named-records.ts";

const PATH = "/client-certificate-authorities";
const pathOfAuthority = (call: RecordCall): string => pathOf(call, PATH, "authority");

export const clientCertificateAuthorityCommands: readonly Command[] = [
  {
    name: "client-certificate-authority create",
    summary:
      "trust an authority: its certificates authenticate clients of tls_client_auth by their registered name",
    usage: "--org ID --name NAME --certificate FILE [--json]",
    options: {
      name: { value: "NAME", help: "name of the authority", required: true },
      certificate: { value: "FILE", help: "its certificate in PEM", required: true },
    },
    examples: [
      'signet client-certificate-authority create --org 01998d6e-… --name "Partner CA" --certificate ca.pem',
    ],
    runByApi: async (call) => {
      const file = requiredText(call.values, "certificate");
      const certificate = await readOptionFile("certificate", file, MAX_CERTIFICATE_LENGTH, (bytes) =>
        bytes.toString("latin1"),
      );
      const body = { name: requiredText(call.values, "name"), certificate };
      return printRecord(call, await call.api.send("POST", PATH, body), "Created.");
    },
  },
  {
    name: "client-certificate-authority list",
    summary: "list the authorities whose certificates authenticate clients",
    usage: "--org ID [--limit COUNT] [--json]",
    options: limitOption,
    runByApi: (call) =>
      printRecords(call, PATH, {
        columns: { ID: "id", NAME: "name", SUBJECT: "subject", EXPIRES: "notAfter", ENABLED: "enabled" },
        none: "There are none yet: signet client-certificate-authority create --org … --name … --certificate …",
      }),
  },
  {
    name: "client-certificate-authority show",
    summary: "show an authority with its certificate",
    usage: "ID --org ID [--json]",
    positionals: 1,
    runByApi: async (call) => printRecord(call, await call.api.read(pathOfAuthority(call))),
  },
  {
    name: "client-certificate-authority delete",
    summary: "trust an authority no longer, from the next request on",
    usage: "ID --org ID [--yes] [--json]",
    positionals: 1,
    options: yesOption,
    runByApi: (call) =>
      deleteRecord(call, pathOfAuthority(call), { what: "client certificate authority", name: "name" }),
  },
];
