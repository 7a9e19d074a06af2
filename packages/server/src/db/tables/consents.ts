/** Scopes of an organisation, the resources that they belong to, consents and pre-authorizations. */

/** An organisation's own scope. `claims` is JSON (wire-contract.md §5). */
export interface CustomScopeTable {
  org_id: string;
  id: string;
  /** As applications request it; immutable, because consents and applications refer to it. */
  name: string;
  display_name: string;
  description: string;
  claims: string;
  sensitive: number;
  created_at: number;
  updated_at: number;
  version: number;
  /** The protected resource that it belongs to. */
  resource_id: string | null;
}

/** What access tokens are for (RFC 8707, RFC 9728). */
export interface ProtectedResourceTable {
  org_id: string;
  id: string;
  /** The value of `resource` and `aud`. */
  identifier: string;
  name: string;
  enabled: number;
  access_token_format: string;
  /** Null: the application's. */
  access_token_lifetime_seconds: number | null;
  access_token_alg: string | null;
  sender_constraint: string;
  /** The application that it is: may introspect its tokens, and its roles are told in them. */
  application_id: string | null;
  /** JSON: names of scopes. */
  agent_denied_scopes: string;
  created_at: number;
  updated_at: number;
  version: number;
}

export interface ConsentTable {
  org_id: string;
  id: string;
  /** `user` or `organisation`. */
  kind: string;
  application_id: string;
  user_id: string | null;
  scope: string;
  granted_by: string;
  /** Of the last scopes that were added. */
  granted_at: number;
  /** Null in rows of versions before it. */
  created_at: number | null;
  revoked_at: number | null;
  revoked_by: string | null;
  /** JSON: what each scope gave when it was consented to. */
  scope_fingerprints: string | null;
  /** JSON: the ids of the granted custom scopes, by name; null in rows of older versions. */
  scope_definitions: string | null;
}

/** An administrator said yes for everybody, ahead of any request. */
export interface PreauthorizationTable {
  org_id: string;
  id: string;
  application_id: string;
  scope: string;
  created_by: string;
  created_at: number;
  /** As of a consent. */
  scope_definitions: string | null;
}

/** What an organisation's APIs may be asked for in detail (RFC 9396). */
export interface AuthorizationDetailTypeTable {
  org_id: string;
  id: string;
  /** As requests name it; immutable, because applications and grants refer to it. */
  type: string;
  display_name: string;
  template: string;
  /** JSON: a JSON Schema. */
  schema: string;
  /** The RFC 8707 resource that understands such details. */
  resource: string | null;
  enabled: number;
  created_at: number;
  updated_at: number;
  version: number;
}

export interface ConsentsSchema {
  authorization_detail_type: AuthorizationDetailTypeTable;
  consent: ConsentTable;
  custom_scope: CustomScopeTable;
  preauthorization: PreauthorizationTable;
  protected_resource: ProtectedResourceTable;
}
