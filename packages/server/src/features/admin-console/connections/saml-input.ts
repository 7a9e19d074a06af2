/** What the settings of a SAML connection hold, and what they ask: the metadata's provider, or one that is typed. */
import {
  type AskedProvider,
  changedProvider,
  describeProvider,
} from "../../../core/connections/saml/provider.ts";
import { samlFaults, samlProvider } from "../../../core/connections/sign-in/saml-rules.ts";
import type { SamlProvider, SettingsFault } from "../../../core/connections/sign-in/sign-in-settings.ts";
import type { ConnectionsDeps } from "./connection-pages.ts";

export type SamlInput = {
  metadataUrl: string;
  /** Never shown again: empty when nothing was pasted. */
  metadataXml: string;
  /** The metadata at the URL, which is the same. */
  metadataAgain: boolean;
  entityId: string;
  ssoUrl: string;
  sloUrl: string;
  certificates: string;
  subjectAttribute: string;
  allowIdpInitiated: boolean;
};

export const noSaml: SamlInput = {
  ...{ metadataUrl: "", metadataXml: "", metadataAgain: false, entityId: "", ssoUrl: "", sloUrl: "" },
  ...{ certificates: "", subjectAttribute: "", allowIdpInitiated: false },
};

export const toSamlInput = (saml: SamlProvider): SamlInput => ({
  ...noSaml,
  ...{ metadataUrl: saml.metadataUrl ?? "", entityId: saml.entityId },
  ...{ ssoUrl: saml.ssoUrl, sloUrl: saml.sloUrl ?? "", subjectAttribute: saml.subjectAttribute ?? "" },
  certificates: saml.certificates.map((pem) => pem.trim()).join("\n"),
  allowIdpInitiated: saml.allowIdpInitiated,
});

/** As metadata may be large, and ten certificates too. */
const MAX_LETTERS = 300_000;

export function readSamlInput(values: ReadonlyMap<string, string>): SamlInput {
  const text = (id: string) => (values.get(id) ?? "").trim().slice(0, MAX_LETTERS);
  const isOn = (id: string) => values.get(id) === "on";
  return {
    ...{ metadataUrl: text("metadataUrl"), metadataXml: text("metadataXml") },
    ...{ metadataAgain: isOn("metadataAgain"), entityId: text("entityId"), ssoUrl: text("ssoUrl") },
    ...{ sloUrl: text("sloUrl"), certificates: text("certificates") },
    ...{ subjectAttribute: text("subjectAttribute"), allowIdpInitiated: isOn("allowIdpInitiated") },
  };
}

/** Of metadata everything is read, so that its form has no fields for it. */
export const isTyped = ({ metadataUrl }: Pick<SamlProvider, "metadataUrl">): boolean => metadataUrl === null;

/** PEM, one after the other; or one in base64. */
const certificatesIn = (text: string): string[] =>
  text.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? (text === "" ? [] : [text]);

/** Where a fault of the provider is shown: metadata is wrong where it was given. */
export type SamlField = Exclude<keyof SamlInput, "metadataAgain" | "allowIdpInitiated">;

export type AskedSaml =
  | { readonly saml: Partial<SamlProvider> }
  | { readonly fields: ReadonlySet<SamlField> };

/** Before the transaction, as metadata may be fetched. */
export async function askedSaml(
  deps: ConnectionsDeps,
  orgId: string,
  { before, input }: { readonly before: SamlProvider; readonly input: SamlInput },
): Promise<AskedSaml> {
  const asked = askedProvider(before, input);
  const described = await describeProvider(deps, orgId, asked);
  const { saml, faults } = changedProvider(before, asked, described);
  const all = faults.length > 0 ? faults : samlFaults(samlProvider(saml));
  if (all.length === 0) return { saml };
  const given = asked.metadataXml === undefined ? "metadataUrl" : "metadataXml";
  const place = described.kind === "none" && isTyped(before) ? undefined : given;
  return { fields: new Set(all.map((fault) => placeOf(fault, place))) };
}

function askedProvider(before: SamlProvider, input: SamlInput): AskedProvider {
  const { metadataUrl, metadataXml, subjectAttribute, allowIdpInitiated } = input;
  const own = {
    subjectAttribute: subjectAttribute === "" ? null : subjectAttribute,
    allowIdpInitiated,
  };
  if (metadataXml !== "") return { metadataXml, ...own };
  const isSame = metadataUrl === (before.metadataUrl ?? "");
  if (metadataUrl !== "" && (!isSame || input.metadataAgain)) return { metadataUrl, ...own };
  // From now on it is what it was, and can be typed.
  if (!isTyped(before)) return metadataUrl === "" ? { metadataUrl: null, ...own } : own;
  const { entityId, ssoUrl, sloUrl, certificates } = input;
  return {
    ...{ ...own, entityId, ssoUrl, sloUrl: sloUrl === "" ? null : sloUrl },
    certificates: certificatesIn(certificates),
  };
}

const typedFields: readonly SamlField[] = [
  "entityId",
  "ssoUrl",
  "sloUrl",
  "certificates",
  "subjectAttribute",
];

function placeOf({ path }: SettingsFault, metadata: SamlField | undefined): SamlField {
  const [, , member = ""] = path.split("/");
  if (member === "subjectAttribute") return member;
  return metadata ?? typedFields.find((field) => field === member) ?? "metadataXml";
}
