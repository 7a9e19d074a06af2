/** The name that a client's certificate must have: one of five kinds (RFC 8705 §2.1.2). */
import type { ClientName } from "@signet/protocol/certificates/client-certificate";
import { parseDistinguishedName } from "@signet/protocol/certificates/distinguished-name";
import { addressBytes, isEmailName, isHostName } from "@signet/protocol/certificates/general-names";
import { type ApplicationSettings, isDeviceMethod } from "./application.ts";

interface NameRule {
  readonly kind: ClientName["kind"];
  readonly message: string;
  isFine(value: string): boolean;
}

const rules = {
  tlsClientAuthSubjectDn: {
    kind: "subject-dn",
    message: "must be a distinguished name, as in CN=client,O=Example (RFC 4514)",
    isFine: (value) => parseDistinguishedName(value) !== undefined,
  },
  tlsClientAuthSanDns: {
    kind: "host",
    message: "must be a host name without wildcards",
    isFine: isHostName,
  },
  tlsClientAuthSanUri: {
    kind: "uri",
    message: "must be an absolute URI, as in the certificate",
    isFine: (value) => /^[\x21-\x7e]{1,2048}$/.test(value) && URL.canParse(value),
  },
  tlsClientAuthSanIp: {
    kind: "address",
    message: "must be an IPv4 or IPv6 address",
    isFine: (value) => addressBytes(value) !== undefined,
  },
  tlsClientAuthSanEmail: {
    kind: "email",
    message: "must be an email address of ASCII characters",
    isFine: isEmailName,
  },
} as const satisfies Partial<Readonly<Record<keyof ApplicationSettings, NameRule>>>;

export type CertificateName = keyof typeof rules;
export const certificateNames = Object.keys(rules) as CertificateName[];

/** The name that the client has registered; undefined: any device of the organisation may authenticate. */
export function registeredName(settings: ApplicationSettings): ClientName | undefined {
  const member = certificateNames.find((name) => settings[name] !== undefined);
  const value = member && settings[member];
  return value === undefined ? undefined : { kind: rules[member as CertificateName].kind, value };
}

export function certificateNameFaults(settings: ApplicationSettings): { path: string; message: string }[] {
  const given = certificateNames.filter((name) => settings[name] !== undefined);
  if (!isDeviceMethod(settings.tokenEndpointAuthMethod))
    return given.map((path) => ({
      path,
      message: "requires tls_client_auth, or a method by which a device vouches for the client",
    }));
  const isOne = given.length <= 1;
  return given.flatMap((path) => {
    const { isFine, message }: NameRule = rules[path];
    if (!isOne) return [{ path, message: `only one of ${given.join(", ")} can be set (RFC 8705 §2.1.2)` }];
    return isFine(settings[path] ?? "") ? [] : [{ path, message }];
  });
}
