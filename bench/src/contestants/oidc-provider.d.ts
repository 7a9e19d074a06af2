// What the bench uses of oidc-provider 9, which ships no types.
declare module "oidc-provider" {
  import type { RequestListener } from "node:http";

  type StoredModel = { save: () => Promise<string> };
  type GrantModel = StoredModel & {
    addOIDCScope: (scope: string) => void;
    addResourceScope: (resource: string, scope: string) => void;
  };
  type ModelValues = Record<string, unknown>;

  export class Provider {
    constructor(issuer: string, configuration: Record<string, unknown>);
    callback(): RequestListener;
    Client: { find: (clientId: string) => Promise<object | undefined> };
    Grant: new (
      values: ModelValues,
    ) => GrantModel;
    AuthorizationCode: new (
      values: ModelValues,
    ) => StoredModel;
    RefreshToken: new (
      values: ModelValues,
    ) => StoredModel;
    AccessToken: new (
      values: ModelValues,
    ) => StoredModel;
  }
}

declare module "oidc-provider/lib/adapters/memory_adapter.js" {
  /** Makes the adapter of each model; all of them keep what they hold in one `store`. */
  export function createMemoryAdapter(): (model: string) => { store: Map<string, unknown> };
}
