/** The keys that a SAML identity provider signs with. A key that is not known is looked for in its metadata, once in thirty seconds. */
import type { Clock } from "../../../../core/clock.ts";
import { fetchCertificates, type Renewed } from "../../../../core/connections/saml/renew-certificates.ts";
import { ConnectionSignInFailure } from "../../../../core/connections/sign-in/failure.ts";
import type { SignInConnection } from "../../../../core/connections/sign-in/sign-in-connections.ts";
import { providerOf } from "../../../../core/connections/sign-in/sign-in-settings.ts";
import type { Outbound } from "../../../../core/outbound/outbound.ts";
import type { ConnectionDeps } from "../connection-visit.ts";
import { sharedWork } from "../oidc/shared-work.ts";
import { isUnknownKey } from "./xml-signature.ts";

export interface SamlDeps extends ConnectionDeps {
  readonly samlKeys: SamlKeys;
}

export interface SamlKeys {
  /**
   * @param check with certificates that may be believed, as PEM
   * @throws ConnectionSignInFailure signature-invalid when none of them has signed, nor one of the metadata as it is now
   */
  check<T>(connection: SignInConnection, check: (certificates: readonly string[]) => Promise<T>): Promise<T>;
}

export interface SamlKeysDeps {
  readonly outbound: Outbound;
  readonly clock: Clock;
  /** The provider has signed with one of them, and none of those before. */
  onCertificates(connection: SignInConnection, certificates: readonly string[]): Promise<void>;
}

const REFETCH_MS = 30_000;
const MAX_KEPT = 1_000;

export function samlKeys(deps: SamlKeysDeps): SamlKeys {
  const kept = new Map<string, { readonly asked: Renewed | undefined; readonly at: number }>();
  const underWay = sharedWork<Renewed>();
  const keep = (key: string, asked: Renewed | undefined, at: number) => {
    kept.delete(key);
    if (kept.size >= MAX_KEPT) kept.delete(kept.keys().next().value ?? "");
    kept.set(key, { asked, at });
  };
  /** Whether or not it answers: anybody can sign with a key that is not there. */
  const renewed = async (connection: SignInConnection, metadataUrl: string): Promise<Renewed | undefined> => {
    const { orgId, id, settings } = connection;
    const key = `${orgId}|${id}|${metadataUrl}`;
    const [last, now] = [kept.get(key), deps.clock()];
    if (last && last.at + REFETCH_MS > now && !underWay.has(key)) return last.asked;
    return underWay.run(key, async () => {
      keep(key, undefined, now);
      const asked = await fetchCertificates(deps, orgId, providerOf(settings), metadataUrl);
      keep(key, asked, now);
      return asked;
    });
  };
  return {
    check: async (connection, check) => {
      const { certificates, metadataUrl } = providerOf(connection.settings);
      try {
        return await check(certificates);
      } catch (error) {
        if (metadataUrl === null || !isUnknownKey(error)) throw error;
        const now = await renewed(connection, metadataUrl);
        if (now?.kind !== "fetched") throw withReason(error, now?.why);
        const checked = await check(now.certificates);
        await deps.onCertificates(connection, now.certificates);
        return checked;
      }
    },
  };
}

/** For the organisation's administrators. */
const withReason = (error: ConnectionSignInFailure, why: string | undefined): ConnectionSignInFailure =>
  why === undefined
    ? error
    : new ConnectionSignInFailure(error.reason, { detail: `${error.detail}; the metadata ${why}` });
