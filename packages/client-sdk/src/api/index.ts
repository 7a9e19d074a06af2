/**
 * Client for API v1: users, groups, roles, applications, connections and all else of an organisation, with access tokens. Start
 * with `apiClient`.
 *
 * @module api
 */

export type { GrantConfiguration } from "../grants/grant-settings.ts";
export type { TokenSource } from "../grants/token-source.ts";
export type { ServiceOptions } from "../service-api/service-client.ts";
export type {
  BodyOf,
  CallOptions,
  ItemList,
  ItemOf,
  ListOptions,
  Page,
  PathParameter,
} from "../service-api/typed-client.ts";
export type { DeleteOptions, RepeatOptions, Versioned } from "../service-api/versions.ts";
export type { ApiCalls } from "./api-calls.ts";
export {
  type ApiClient,
  type ApiClientOptions,
  type ApiErrorCode,
  apiClient,
  apiErrorCode,
  apiErrorCodes,
} from "./api-client.ts";
export type * from "./api-records.ts";
export type {
  ApiAct,
  ApiAnswer,
  ApiBody,
  ApiCollection,
  ApiInput,
  ApiItem,
  ApiListRoute,
  ApiPath,
  ApiQuery,
  ApiRoute,
  ApiRouteOf,
  OrganisationPath,
} from "./api-types.ts";
export type {
  ActOptions,
  ApiActs,
  ApiChanges,
  ApiCreates,
  ApiDeletes,
  ApiReads,
  ChangeOptions,
} from "./record-methods.ts";
