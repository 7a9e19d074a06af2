/** New certificates of a SAML identity provider: what its metadata says now, and the record that takes them. */
import { X509Certificate } from "node:crypto";
import { calculateJwkThumbprint } from "jose";
import { OutboundFailure } from "../../outbound/outbound.ts";
import { lockConnection, replaceConnection } from "../connections.store.ts";
import { type ConnectionKeysDeps, recordReplacedKeys } from "../sign-in/connection-keys.ts";
import { isSignInConnection, type SignInConnection } from "../sign-in/sign-in-connections.ts";
import type { SamlProvider } from "../sign-in/sign-in-settings.ts";
import { certificateFault, MAX_CERTIFICATES } from "./metadata.ts";
import { fetchMetadata, type MetadataDeps } from "./provider.ts";
import { XmlRefused } from "./xml.ts";

export type Renewed =
  | { readonly kind: "fetched"; readonly certificates: readonly string[] }
  | { readonly kind: "refused"; readonly why: string };

const refused = (why: string): Renewed => ({ kind: "refused", why });

/** Certificates alone: another entityID, or another host to sign in at, is another provider, whoever has written it there. */
export async function fetchCertificates(
  deps: MetadataDeps,
  orgId: string,
  { entityId, ssoUrl }: SamlProvider,
  metadataUrl: string,
): Promise<Renewed> {
  try {
    const now = await fetchMetadata(deps, orgId, metadataUrl);
    if (now.entityId !== entityId) return refused("names another entityID");
    if (URL.parse(now.ssoUrl)?.host !== new URL(ssoUrl).host) return refused("names another SSO host");
    const { certificates } = now;
    const isUsable = certificates.every((certificate) => certificateFault(certificate) === undefined);
    return isUsable && certificates.length > 0 && certificates.length <= MAX_CERTIFICATES
      ? { kind: "fetched", certificates }
      : refused("has certificates that can't be used");
  } catch (error) {
    if (error instanceof XmlRefused) return refused(`is refused: ${error.message}`);
    if (error instanceof OutboundFailure) return refused(`can't be fetched: ${error.message}`);
    throw error;
  }
}

/** The provider has just signed with one of them. Does nothing where the record has been changed meanwhile, or has them. */
export async function takeCertificates(
  deps: ConnectionKeysDeps,
  { orgId, id, settings: { saml: seen } }: SignInConnection,
  certificates: readonly string[],
): Promise<void> {
  const now = deps.clock();
  const isSeen = (saml: SamlProvider) =>
    saml.metadataUrl === seen?.metadataUrl && saml.entityId === seen.entityId && saml.ssoUrl === seen.ssoUrl;
  await deps.database.transaction(async (tx) => {
    const before = await lockConnection(tx, { orgId, id });
    if (!before || !isSignInConnection(before)) return;
    const { settings: held } = before;
    if (held.saml === undefined || !isSeen(held.saml)) return;
    const { saml } = held;
    if (isSame(saml.certificates, certificates)) return;
    const settings = { ...held, saml: { ...saml, certificates } };
    const changed = { ...before, settings, updatedAt: now, version: before.version + 1 };
    if (!(await replaceConnection(tx, changed))) throw new Error("its own name is taken");
    const [keys, keysNow] = [await thumbprints(saml.certificates), await thumbprints(certificates)];
    await recordReplacedKeys(deps, tx, changed, { before: keys, now: keysNow });
  });
}

const isSame = (one: readonly string[], other: readonly string[]): boolean =>
  JSON.stringify([...one].sort()) === JSON.stringify([...other].sort());

/** RFC 7638, of the keys: a certificate may be issued anew for the same one. */
async function thumbprints(certificates: readonly string[]): Promise<string[]> {
  const all = await Promise.all(
    certificates.map((pem) =>
      calculateJwkThumbprint(new X509Certificate(pem).publicKey.export({ format: "jwk" })),
    ),
  );
  return [...new Set(all)].sort();
}
