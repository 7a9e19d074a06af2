/** The SAML identity provider of a connection: of its metadata, or as it was typed. */
import { type Outbound, OutboundFailure } from "../../outbound/outbound.ts";
import type { SamlProvider, SettingsFault } from "../sign-in/sign-in-settings.ts";
import { type ProviderDescription, readCertificate, readMetadata } from "./metadata.ts";
import { MAX_XML_BYTES, XmlRefused } from "./xml.ts";

export interface MetadataDeps {
  readonly outbound: Outbound;
  readonly clock: () => number;
}

/** What is asked for; null unsets. */
export interface AskedProvider {
  readonly metadataUrl?: string | null;
  readonly metadataXml?: string | null;
  readonly entityId?: string | null;
  readonly ssoUrl?: string | null;
  readonly sloUrl?: string | null;
  readonly certificates?: readonly string[] | null;
  readonly subjectAttribute?: string | null;
  readonly allowIdpInitiated?: boolean | null;
}

/** Read before the transaction, as it may be fetched. */
export type Described =
  | { readonly kind: "none" }
  | { readonly kind: "described"; readonly description: ProviderDescription }
  | { readonly kind: "refused"; readonly fault: SettingsFault };

export async function describeProvider(
  deps: MetadataDeps,
  orgId: string,
  { metadataUrl, metadataXml }: AskedProvider,
): Promise<Described> {
  if (typeof metadataXml === "string")
    return described("/saml/metadataXml", () => readMetadata(Buffer.from(metadataXml), deps.clock()));
  if (typeof metadataUrl !== "string") return { kind: "none" };
  return described("/saml/metadataUrl", () => fetchMetadata(deps, orgId, metadataUrl));
}

async function described(path: string, read: () => Promise<ProviderDescription>): Promise<Described> {
  try {
    return { kind: "described", description: await read() };
  } catch (error) {
    if (error instanceof XmlRefused) return { kind: "refused", fault: { path, message: error.message } };
    if (error instanceof OutboundFailure)
      return { kind: "refused", fault: { path, message: `can't be fetched: ${error.message}` } };
    throw error;
  }
}

/** @throws XmlRefused, OutboundFailure */
export async function fetchMetadata(
  { outbound, clock }: MetadataDeps,
  orgId: string,
  url: string,
): Promise<ProviderDescription> {
  const { status, body } = await outbound.call(orgId, url, { maxBytes: MAX_XML_BYTES });
  if (status !== 200) throw new XmlRefused(`it was answered with status ${status}`);
  return readMetadata(body, clock());
}

const describedMembers = ["entityId", "ssoUrl", "sloUrl", "certificates"] as const;

/** What a connection shall have, of what it has: metadata says all of it, or all of it is typed. */
export function changedProvider(
  before: SamlProvider | undefined,
  asked: AskedProvider,
  described: Described,
): { readonly saml: Partial<SamlProvider>; readonly faults: readonly SettingsFault[] } {
  const own = {
    subjectAttribute: given(asked.subjectAttribute, before?.subjectAttribute ?? null, null),
    allowIdpInitiated: given(asked.allowIdpInitiated, before?.allowIdpInitiated ?? false, false),
  };
  const typed = describedMembers.filter((member) => asked[member] !== undefined && asked[member] !== null);
  if (described.kind === "refused") return { saml: { ...before, ...own }, faults: [described.fault] };
  if (described.kind === "described") {
    const isTwice = typeof asked.metadataUrl === "string" && typeof asked.metadataXml === "string";
    const metadataUrl = isTwice ? null : (asked.metadataUrl ?? null);
    const faults = [
      ...typed.map((member) => ({ path: `/saml/${member}`, message: "is in the metadata" })),
      ...(isTwice ? [{ path: "/saml/metadataXml", message: "is given beside metadataUrl" }] : []),
    ];
    return { saml: { ...described.description, metadataUrl, ...own }, faults };
  }
  const metadataUrl = asked.metadataUrl === null ? null : (before?.metadataUrl ?? null);
  const saml = {
    ...{ metadataUrl, entityId: asked.entityId ?? before?.entityId ?? "" },
    ssoUrl: asked.ssoUrl ?? before?.ssoUrl ?? "",
    sloUrl: given(asked.sloUrl, before?.sloUrl ?? null, null),
    // Goes with the `sloUrl` that it was published with.
    sloResponseUrl: [undefined, before?.sloUrl].includes(asked.sloUrl) ? before?.sloResponseUrl : undefined,
    certificates: asked.certificates ? plainCertificates(asked.certificates) : (before?.certificates ?? []),
    ...own,
  };
  const isFetched = metadataUrl !== null && typed.length > 0;
  const fault = { path: "/saml/metadataUrl", message: "is null where the rest is given by hand" };
  return { saml, faults: isFetched ? [fault] : [] };
}

/** As they are kept; what is none is told by the rules. */
const plainCertificates = (certificates: readonly string[]): string[] => [
  ...new Set(certificates.map((text) => readCertificate(text) ?? text)),
];

/** Undefined leaves what is there, null is the default. */
const given = <T>(asked: T | null | undefined, before: T, unset: T): T =>
  asked === undefined ? before : (asked ?? unset);
