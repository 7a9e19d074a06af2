/** What is wrong with the SAML identity provider of a connection. */
import { certificateFault, MAX_CERTIFICATES, readCertificate } from "../saml/metadata.ts";
import { isAddress, isPlain } from "./setting-values.ts";
import type { Preset, SamlProvider, SettingsFault } from "./sign-in-settings.ts";

/** SAML 2.0 Core §8.3.6. */
const MAX_ENTITY_ID = 1_024;

export const samlProvider = (asked: Partial<SamlProvider> = {}): SamlProvider => ({
  metadataUrl: asked.metadataUrl ?? null,
  entityId: asked.entityId ?? "",
  ssoUrl: asked.ssoUrl ?? "",
  sloUrl: asked.sloUrl ?? null,
  ...(asked.sloResponseUrl === undefined ? {} : { sloResponseUrl: asked.sloResponseUrl }),
  certificates: asked.certificates ?? [],
  subjectAttribute: asked.subjectAttribute ?? null,
  allowIdpInitiated: asked.allowIdpInitiated ?? false,
});

const withoutSaml: readonly (Preset | null)[] = ["github", "apple"];

export const samlPresetFaults = (preset: Preset | null): SettingsFault[] =>
  withoutSaml.includes(preset) ? [{ path: "/preset", message: "has no SAML" }] : [];

export function samlFaults(provider: SamlProvider): SettingsFault[] {
  const { metadataUrl, entityId, ssoUrl, sloUrl, sloResponseUrl, certificates, subjectAttribute } = provider;
  const faults: SettingsFault[] = [];
  const address = "is an https URL without credentials and fragment; http for loopback only";
  const add = (member: string, message: string) => faults.push({ path: `/saml/${member}`, message });
  if (metadataUrl !== null && !isAddress(metadataUrl)) add("metadataUrl", address);
  if (!isPlain(entityId, MAX_ENTITY_ID) || /\s/.test(entityId))
    add("entityId", `has 1 to ${MAX_ENTITY_ID} characters, without spaces`);
  if (!isAddress(ssoUrl)) add("ssoUrl", address);
  if (sloUrl !== null && !isAddress(sloUrl)) add("sloUrl", address);
  if (sloResponseUrl !== undefined && !isAddress(sloResponseUrl)) add("sloResponseUrl", address);
  if (certificates.length === 0 || certificates.length > MAX_CERTIFICATES)
    add("certificates", `are 1 to ${MAX_CERTIFICATES} certificates`);
  else
    for (const [index, certificate] of certificates.entries()) {
      const isOne = readCertificate(certificate) !== undefined;
      const fault = isOne ? certificateFault(certificate) : "is a certificate, as PEM or in base64";
      if (fault !== undefined) add(`certificates/${index}`, fault);
    }
  if (subjectAttribute !== null && !isPlain(subjectAttribute, 255))
    add("subjectAttribute", "has 1 to 255 characters");
  return faults;
}
