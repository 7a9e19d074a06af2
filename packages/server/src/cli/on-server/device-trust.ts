/** `signet device-roots …` and `ek-allow …` with `--server`: which TPMs are trusted, by API v1. */
import { basename } from "node:path";
import { displayHash, type TrustBlock } from "../../features/device-identity/ek-trust/trust-file.ts";
import { optionalText, type RecordCall } from "../command.ts";
import { parseSha256, readTrustFiles } from "../device/device-trust-commands.ts";
import { escapeControls, printList, printResult } from "../output.ts";
import type { Wire } from "../remote/api-types.ts";
import { readLimit } from "../with-service.ts";
import type { OnServer } from "./on-server.ts";

const labels = { certificate: "CERTIFICATE", "public-key": "PUBLIC KEY" } as const;

const pemOf = ({ kind, der }: TrustBlock): string =>
  `-----BEGIN ${labels[kind]}-----\n${der.toString("base64")}\n-----END ${labels[kind]}-----\n`;

const withHash = (record: Wire): Wire => ({ ...record, sha256: displayHash(String(record["id"])) });

/** All files are read before anything is sent; what is there already stays. @param bodyOf a part of a file */
async function sendAll(
  { api, positionals }: RecordCall,
  path: string,
  bodyOf: (pem: string, file: string) => Wire,
): Promise<Wire[]> {
  const added: Wire[] = [];
  for (const { name, blocks } of readTrustFiles(positionals).files)
    for (const block of blocks)
      added.push(withHash(await api.send("POST", path, bodyOf(pemOf(block), name))));
  return added;
}

const printTrusted = (
  call: RecordCall,
  path: string,
  view: { readonly columns: Readonly<Record<string, string>>; readonly none: string },
): Promise<number> =>
  printList(call, call.api.list(path, { limit: readLimit(call.values) }), {
    record: withHash,
    columns: Object.fromEntries(
      Object.entries(view.columns).map(([heading, member]) => [
        heading,
        (item: Wire) => String(withHash(item)[member]),
      ]),
    ),
    none: view.none,
  });

const remove =
  (path: string, done: string): OnServer =>
  async (call) => {
    const id = parseSha256(call.positionals[0]);
    await call.api.send("DELETE", `${path}/${id}`);
    return printResult(call, { sha256: displayHash(id), removed: true }, () => [done]);
  };

export const deviceTrustOnServer: Readonly<Record<string, OnServer>> = {
  "device-roots import": async (call) => {
    const trusted = await sendAll(call, "/device-roots", (certificate) => ({ certificate }));
    return printResult(call, { trusted }, () =>
      trusted.map(({ subject }) => escapeControls(`Trusted  ${subject}`)),
    );
  },
  "device-roots list": (call) =>
    printTrusted(call, "/device-roots", {
      columns: { "SHA-256": "sha256", EXPIRES: "notAfter", SUBJECT: "subject" },
      none: "No trusted roots yet: signet device-roots import --org … FILE",
    }),
  "device-roots remove": remove("/device-roots", "Root certificate removed."),
  "ek-allow add": async (call) => {
    const given = optionalText(call.values, "label");
    const allowed = await sendAll(call, "/allowed-eks", (key, file) => ({
      key,
      label: given ?? basename(file),
    }));
    return printResult(call, { allowed }, () =>
      allowed.map(({ sha256, label }) => escapeControls(`Allowed  ${sha256}  ${label}`)),
    );
  },
  "ek-allow list": (call) =>
    printTrusted(call, "/allowed-eks", {
      columns: { "SHA-256": "sha256", ADDED: "createdAt", LABEL: "label" },
      none: "No endorsement keys yet: signet ek-allow add --org … FILE",
    }),
  "ek-allow remove": remove("/allowed-eks", "Endorsement key removed."),
};
