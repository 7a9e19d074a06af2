/** Which clients an organisation takes that nobody has registered by hand, and what they may have. */
import { parseScope } from "@signet/protocol/oauth/scope";
import { API_SCOPE_PREFIX } from "../scopes/api-scopes.ts";

/** None; those of the named hosts; any. */
export const policyModes = ["off", "allowlist", "any"] as const;
export type PolicyMode = (typeof policyModes)[number];

/** DPoP: as each client can, or required. Most clients of MCP lack it. */
export const agentConstraints = ["preferred", "required"] as const;
export type AgentConstraint = (typeof agentConstraints)[number];

export interface ClientPolicyContent {
  readonly mode: PolicyMode;
  /** `host` or `host:port`, in lower case. */
  readonly hosts: readonly string[];
  readonly allowedScopes: readonly string[];
  readonly allowedResources: readonly string[];
  readonly senderConstraint: AgentConstraint;
}

export interface ClientPolicy extends ClientPolicyContent {
  readonly orgId: string;
  /** Null: nobody has set it. */
  readonly createdAt: number | null;
  readonly updatedAt: number | null;
  readonly version: number;
}

export const defaultPolicy: ClientPolicyContent = {
  mode: "allowlist",
  hosts: [],
  allowedScopes: ["openid", "profile", "email", "offline_access"],
  allowedResources: [],
  senderConstraint: "preferred",
};

/** What is left out is as in a new organisation. */
export const wholePolicy = ({ hosts, ...given }: Partial<ClientPolicyContent>): ClientPolicyContent => ({
  ...defaultPolicy,
  ...given,
  ...(hosts && { hosts: hosts.map((host) => host.toLowerCase()) }),
});

/** Together no more than a request body of 64 KiB holds. */
export const MAX_HOSTS = 100;
export const MAX_ALLOWED = 100;
export const MAX_RESOURCES = 20;

/** Seconds: so long live access tokens of clients that nobody has registered by hand. */
export const AGENT_TOKEN_SECONDS = 600;

export interface PolicyFault {
  readonly path: string;
  readonly message: string;
}

export class InvalidPolicy extends Error {
  override readonly name = "InvalidPolicy";
  readonly faults: readonly PolicyFault[];
  constructor(faults: readonly PolicyFault[]) {
    super(faults.map(({ path, message }) => `${path}: ${message}`).join("; "));
    this.faults = faults;
  }
}

/** Whether the policy takes a client with this client_id, which is a URL. */
export const takesClient = ({ mode, hosts }: ClientPolicyContent, clientId: string): boolean =>
  mode === "any" || (mode === "allowlist" && hosts.includes(new URL(clientId).host));

/** @param isDefined whether the organisation has the scope. @throws InvalidPolicy */
export function requireValidPolicy(policy: ClientPolicyContent, isDefined: (scope: string) => boolean): void {
  const faults = [
    ...policy.hosts.flatMap((host, index) =>
      isHost(host) ? [] : [{ path: `hosts[${index}]`, message: "must be a host name, or one with a port" }],
    ),
    ...policy.allowedScopes.flatMap((scope, index) => {
      const path = `allowedScopes[${index}]`;
      if (scope.startsWith(API_SCOPE_PREFIX))
        return [{ path, message: "gives access to the API, which such clients never have" }];
      const isKnown = parseScope(scope)?.length === 1 && isDefined(scope);
      return isKnown ? [] : [{ path, message: "is not a scope of the organisation: define it first" }];
    }),
    ...policy.allowedResources.flatMap((uri, index) =>
      uri.length <= 2_048 && URL.canParse(uri) && !uri.includes("#")
        ? []
        : [{ path: `allowedResources[${index}]`, message: "must be an absolute URI without fragment" }],
    ),
  ];
  if (faults.length > 0) throw new InvalidPolicy(faults);
}

/** As a URL's `host` is written. */
const isHost = (host: string): boolean => URL.parse(`https://${host}/`)?.host === host && !host.includes("*");
