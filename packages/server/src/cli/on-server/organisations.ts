/** `signet org …` with `--server`: an operator's by /api/v1/organisations, and the organisation's own record and configuration. */
import type { OrganisationSettings } from "../../core/organisations/organisation.ts";
import { definedOnly, optionalText, type RecordCall, requiredText, UsageError } from "../command.ts";
import {
  applyConfiguration,
  compareConfiguration,
  exportConfiguration,
} from "../config/organisation-config.ts";
import {
  mergeBranding,
  readBranding,
  readImages,
  readPolicies,
  readSignInTexts,
} from "../org/org-commands.ts";
import { confirmEnd } from "../org/org-end.ts";
import { escapeControls } from "../output.ts";
import type { Wire } from "../remote/api-types.ts";
import { pathOf, printRecord, printRecords } from "../remote/named-records.ts";
import { requireArgument } from "../with-service.ts";
import type { OnServer } from "./on-server.ts";

const pathOfOrganisation = (call: RecordCall): string => pathOf(call, "/organisations", "organisation");

const act = async (call: RecordCall, name: "suspend" | "resume" | "restore", done: string): Promise<number> =>
  printRecord(call, await call.api.send("POST", `${pathOfOrganisation(call)}/${name}`, {}), done);

const suspend: OnServer = (call) => act(call, "suspend", "Suspended.");
const resume: OnServer = (call) => act(call, "resume", "Resumed.");

const remove: OnServer = async (call) => {
  const { values } = call;
  if (values["at-once"] === true || values["audit-out"] !== undefined)
    throw new UsageError("--at-once writes the audit log of the database: run it where the server runs");
  if (values.undo === true && values.yes === true) throw new UsageError("--undo goes without --yes");
  if (values.undo === true) return act(call, "restore", "Not deleted, and as it was before.");
  const path = pathOfOrganisation(call);
  const id = requireArgument(call, "the ID of the organisation").toLowerCase();
  // A suspended one is in the list alone.
  const query = { filter: `id eq ${JSON.stringify(id)}` };
  const [organisation] = (await call.api.list("/organisations", { limit: 1, query })).items;
  if (!organisation) throw new Error(`there is no organisation "${id}"`);
  await confirmEnd(call, { name: escapeControls(String(organisation["name"])) }, false);
  const deleted = await call.api.send("DELETE", path);
  return printRecord(
    call,
    deleted,
    `Suspended, and deleted after ${deleted["deletesAt"]}. Until then: signet org delete ${id} --undo`,
  );
};

const set: OnServer = async (call) => {
  const { values } = call;
  const name = optionalText(values, "name");
  const [branding, texts, policies] = [readBranding(values), readSignInTexts(values), readPolicies(values)];
  const images = readImages(values);
  const asked = [branding, texts, policies, images].flatMap((members) => Object.keys(members));
  if (name === undefined && asked.length === 0)
    throw new UsageError("give at least one setting, e.g. --second-factor POLICY; see signet org set --help");
  const patch = definedOnly({
    name,
    branding: await changedBranding(call, branding, texts),
    policies: Object.keys(policies).length === 0 ? undefined : policies,
  });
  let changed: Wire | undefined;
  if (Object.keys(patch).length > 0) changed = await call.api.send("PATCH", "", patch);
  for (const [kind, image] of Object.entries(images)) {
    const path = `/images/${kind}`;
    if (image === null) await call.api.send("DELETE", path);
    else await call.api.send("PUT", path, { content: image.bytes.toString("base64") });
    changed = undefined;
  }
  return printRecord(call, changed ?? (await call.api.read("")), "Changed.");
};

/** As a merge patch: what is not there any more is null. */
async function changedBranding(
  { api }: RecordCall,
  changes: ReturnType<typeof readBranding>,
  texts: ReturnType<typeof readSignInTexts>,
): Promise<Wire | undefined> {
  if (Object.keys(changes).length + Object.keys(texts).length === 0) return undefined;
  const { branding } = await api.read<{ branding: OrganisationSettings["branding"] }>("");
  const before = Object.fromEntries(Object.entries(branding).filter(([, value]) => value !== null));
  const after: Wire = mergeBranding(before, changes, texts).branding ?? {};
  const removed = Object.keys(before).filter((member) => !Object.hasOwn(after, member));
  const { signInTexts, ...others } = after;
  const unset = Object.fromEntries(removed.map((member) => [member, null]));
  return { ...unset, ...others, ...textsPatch(branding.signInTexts ?? {}, signInTexts ?? {}) };
}

function textsPatch(before: object, after: object): Wire {
  const part = (texts: unknown, language: string) =>
    ((texts as Readonly<Record<string, object>>)[language] ?? {}) as Wire;
  const languages = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const patch = languages.map((language) => {
    const [was, is] = [part(before, language), part(after, language)];
    if (Object.keys(is).length === 0) return [language, null] as const;
    const gone = Object.keys(was).filter((name) => !Object.hasOwn(is, name));
    return [language, { ...Object.fromEntries(gone.map((name) => [name, null])), ...is }] as const;
  });
  return languages.length === 0 ? {} : { signInTexts: Object.fromEntries(patch) };
}

export const organisationsOnServer: Readonly<Record<string, OnServer>> = {
  "org create": async (call) => {
    const made = await call.api.send("POST", "/organisations", { name: requiredText(call.values, "name") });
    return printRecord(
      call,
      made,
      `Next: signet user create --org ${made["id"]} --email … --role administrator`,
    );
  },
  "org list": (call) =>
    printRecords(call, "/organisations", {
      columns: { ID: "id", NAME: "name", STATE: "state", CREATED: "createdAt" },
      none: "No organisations yet: signet org create --name …",
    }),
  "org set": set,
  "org suspend": suspend,
  "org resume": resume,
  "org disable": (call) => (call.values.enable === true ? resume(call) : suspend(call)),
  "org delete": remove,
  "org export": exportConfiguration,
  "org apply": (call) =>
    call.values["dry-run"] === true ? compareConfiguration(call) : applyConfiguration(call),
};
