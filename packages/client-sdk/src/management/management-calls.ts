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
  /** List OAuth clients, oldest first */
  "GET /legacy/api/oauth/clients": {
    item: Client;
  };
  /** Create an OAuth client; the response shows a confidential client's first secret once */
  "POST /legacy/api/oauth/clients": {
    body: NewClient;
    answer: CreatedClient;
  };
  /** Get an OAuth client */
  "GET /legacy/api/oauth/clients/{clientId}": {
    answer: Client;
  };
  /** Replace an OAuth client; omitted members return to their defaults */
  "PUT /legacy/api/oauth/clients/{clientId}": {
    body: ChangedClient;
    answer: Client;
  };
  /** Delete an OAuth client and all its tokens permanently */
  "DELETE /legacy/api/oauth/clients/{clientId}": Record<string, never>;
  /** Create another client secret, shown once; existing secrets stay active */
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
  /** Revoke one client secret, or all active ones except the newest, immediately */
  "POST /legacy/api/oauth/clients/{clientId}/revoke-old-secret": {
    body?: {
      /** Default: all active secrets except the newest */
      secretId?: string;
    };
  };
  /** List the users assigned to a client, by PermId */
  "GET /legacy/api/oauth/clients/{clientId}/users": {
    item: AssignedUser;
  };
  /** Assign a user to a client whose access is limited to assigned users */
  "PUT /legacy/api/oauth/clients/{clientId}/users/{permId}": Record<string, never>;
  /** Unassign a user from a client and revoke the user's tokens there immediately */
  "DELETE /legacy/api/oauth/clients/{clientId}/users/{permId}": Record<string, never>;
  /** List custom scopes, oldest first */
  "GET /legacy/api/oauth/scopes": {
    item: Scope;
  };
  /** Create a custom scope */
  "POST /legacy/api/oauth/scopes": {
    body: NewScope;
    answer: Scope;
  };
  /** Get a custom scope */
  "GET /legacy/api/oauth/scopes/{id}": {
    answer: Scope;
  };
  /** Replace a custom scope, except its name */
  "PUT /legacy/api/oauth/scopes/{id}": {
    body: ChangedScope;
    answer: Scope;
  };
  /** Delete a custom scope */
  "DELETE /legacy/api/oauth/scopes/{id}": Record<string, never>;
  /** List consents, oldest first */
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
  /** Get a consent, revoked or not */
  "GET /legacy/api/oauth/consents/{id}": {
    answer: Consent;
  };
  /** Revoke a consent and the refresh tokens based on it immediately */
  "DELETE /legacy/api/oauth/consents/{id}": Record<string, never>;
  /** Grant a client scopes for all users of the organisation */
  "POST /legacy/api/oauth/consents/organisation": {
    body: {
      clientId: string;
      /** Scopes that the client may request */
      scopes: string[];
    };
    answer: Consent;
  };
  /** Grant a client scopes for one user */
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
  /** List pre-authorizations, oldest first */
  "GET /legacy/api/oauth/preauthorizations": {
    query?: {
      clientId?: string;
    };
    item: Preauthorization;
  };
  /** Pre-authorize a client for scopes: its users skip the consent page */
  "POST /legacy/api/oauth/preauthorizations": {
    body: {
      clientId: string;
      /** Scopes that the client may request */
      scopes: string[];
    };
    answer: Preauthorization;
  };
  /** Get a pre-authorization */
  "GET /legacy/api/oauth/preauthorizations/{id}": {
    answer: Preauthorization;
  };
  /** Delete a pre-authorization and revoke the refresh tokens based on it immediately */
  "DELETE /legacy/api/oauth/preauthorizations/{id}": Record<string, never>;
  /** List system accounts, oldest first */
  "GET /legacy/api/oauth/system-accounts": {
    item: SystemAccount;
  };
  /** Create a system account; the response shows the secret key of its first key pair once */
  "POST /legacy/api/oauth/system-accounts": {
    body: NewSystemAccount;
    answer: CreatedSystemAccount;
  };
  /** Get a system account and its keys, without secret keys */
  "GET /legacy/api/oauth/system-accounts/{id}": {
    answer: SystemAccount;
  };
  /** Change a system account's name, required signature form and status */
  "PUT /legacy/api/oauth/system-accounts/{id}": {
    body: ChangedSystemAccount;
    answer: SystemAccount;
  };
  /** Delete a system account with its keys; its audit events remain */
  "DELETE /legacy/api/oauth/system-accounts/{id}": Record<string, never>;
  /** Permit a system account to act for another application of the organisation */
  "PUT /legacy/api/oauth/system-accounts/{id}/permissions/{applicationId}": Record<string, never>;
  /** Withdraw a system account's permission for another application immediately */
  "DELETE /legacy/api/oauth/system-accounts/{id}/permissions/{applicationId}": Record<string, never>;
  /** Add a key pair to a system account; its secret key is shown once, existing keys stay active */
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
  /** Revoke one key pair, named by its public key, immediately */
  "DELETE /legacy/api/oauth/system-accounts/{id}/keys/{keyId}": Record<string, never>;
};
