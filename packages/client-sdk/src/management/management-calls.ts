/** Calls of the management API. Made by generators/management-types.ts from /openapi.json: do not edit. */
import type {
  AssignedUser,
  ChangedClient,
  ChangedScope,
  ChangedSystemAccount,
  Client,
  Consent,
  CreatedClient,
  CreatedClientSecret,
  CreatedSystemAccount,
  CreatedSystemAccountKey,
  NewClient,
  NewScope,
  NewSystemAccount,
  Preauthorization,
  Scope,
  SystemAccount,
} from "./management-records.ts";

export type ManagementCalls = {
  "GET /legacy/api/oauth/clients": {
    item: Client;
  };
  "POST /legacy/api/oauth/clients": {
    body: NewClient;
    answer: CreatedClient;
  };
  "GET /legacy/api/oauth/clients/{clientId}": {
    answer: Client;
  };
  "PUT /legacy/api/oauth/clients/{clientId}": {
    body: ChangedClient;
    answer: Client;
  };
  "DELETE /legacy/api/oauth/clients/{clientId}": Record<string, never>;
  "POST /legacy/api/oauth/clients/{clientId}/rotate-secret": {
    body?: {
      /** At most 100 characters */
      label?: string;
      /** Default: never */
      expiresAt?: string;
      /** Expires the existing ones; default: they stay active until revoked */
      expireOthersInSeconds?: number;
    };
    answer: CreatedClientSecret;
  };
  "POST /legacy/api/oauth/clients/{clientId}/revoke-old-secret": {
    body?: {
      /** Default: all active secrets except the newest */
      secretId?: string;
    };
  };
  "GET /legacy/api/oauth/clients/{clientId}/users": {
    item: AssignedUser;
  };
  "PUT /legacy/api/oauth/clients/{clientId}/users/{permId}": Record<string, never>;
  "DELETE /legacy/api/oauth/clients/{clientId}/users/{permId}": Record<string, never>;
  "GET /legacy/api/oauth/scopes": {
    item: Scope;
  };
  "POST /legacy/api/oauth/scopes": {
    body: NewScope;
    answer: Scope;
  };
  "GET /legacy/api/oauth/scopes/{id}": {
    answer: Scope;
  };
  "PUT /legacy/api/oauth/scopes/{id}": {
    body: ChangedScope;
    answer: Scope;
  };
  "DELETE /legacy/api/oauth/scopes/{id}": Record<string, never>;
  "GET /legacy/api/oauth/consents": {
    query?: {
      clientId?: string;
      userId?: string;
      kind?: "user" | "organisation";
      /** true: include revoked consents */
      revoked?: "true" | "false";
    };
    item: Consent;
  };
  "GET /legacy/api/oauth/consents/{id}": {
    answer: Consent;
  };
  "DELETE /legacy/api/oauth/consents/{id}": Record<string, never>;
  "POST /legacy/api/oauth/consents/organisation": {
    body: {
      clientId: string;
      /** Scopes that the client may request */
      scopes: string[];
    };
    answer: Consent;
  };
  "POST /legacy/api/oauth/consents/user": {
    body: {
      clientId: string;
      /** Scopes that the client may request */
      scopes: string[];
      /** The user's PermId */
      userId: string;
    };
    answer: Consent;
  };
  "GET /legacy/api/oauth/preauthorizations": {
    query?: {
      clientId?: string;
    };
    item: Preauthorization;
  };
  "POST /legacy/api/oauth/preauthorizations": {
    body: {
      clientId: string;
      /** Scopes that the client may request */
      scopes: string[];
    };
    answer: Preauthorization;
  };
  "GET /legacy/api/oauth/preauthorizations/{id}": {
    answer: Preauthorization;
  };
  "DELETE /legacy/api/oauth/preauthorizations/{id}": Record<string, never>;
  "GET /legacy/api/oauth/system-accounts": {
    item: SystemAccount;
  };
  "POST /legacy/api/oauth/system-accounts": {
    body: NewSystemAccount;
    answer: CreatedSystemAccount;
  };
  "GET /legacy/api/oauth/system-accounts/{id}": {
    answer: SystemAccount;
  };
  "PUT /legacy/api/oauth/system-accounts/{id}": {
    body: ChangedSystemAccount;
    answer: SystemAccount;
  };
  "DELETE /legacy/api/oauth/system-accounts/{id}": Record<string, never>;
  "PUT /legacy/api/oauth/system-accounts/{id}/permissions/{applicationId}": Record<string, never>;
  "DELETE /legacy/api/oauth/system-accounts/{id}/permissions/{applicationId}": Record<string, never>;
  "POST /legacy/api/oauth/system-accounts/{id}/keys": {
    body?: {
      /** At most 100 characters */
      label?: string;
      /** Default: never */
      expiresAt?: string;
      /** Expires the existing ones; default: they stay active until revoked */
      expireOthersInSeconds?: number;
    };
    answer: CreatedSystemAccountKey;
  };
  "DELETE /legacy/api/oauth/system-accounts/{id}/keys/{keyId}": Record<string, never>;
};
