/** Types of API v1 by the routes of the generated table. */
import type { BodyOf, ItemOf, PathParameter } from "../service-api/typed-client.ts";
import type { ApiCalls } from "./api-calls.ts";

/** An operation, e.g. `GET /api/v1/organisations/{org}/users/{id}`. */
export type ApiRoute = keyof ApiCalls;

/** What an operation answers. */
export type ApiAnswer<Route extends ApiRoute> = BodyOf<ApiCalls[Route]>;

/** What is in the pages that an operation answers. */
export type ApiItem<Route extends ApiRoute> = ItemOf<ApiCalls[Route]>;

/** An operation that lists. */
export type ApiListRoute = {
  [Route in ApiRoute]: ApiCalls[Route] extends { item: unknown } ? Route : never;
}[ApiRoute];

type OtherThanOrganisation<Route extends string> = Exclude<PathParameter<Route>, "org">;

/** The parameters of an operation's path: `org` is the client's organisation, unless another is named. */
export type ApiPath<Route extends ApiRoute> = [OtherThanOrganisation<Route>] extends [never]
  ? { readonly path?: { readonly org?: string } }
  : { readonly path: Readonly<Record<OtherThanOrganisation<Route>, string>> & { readonly org?: string } };

/** What an operation takes. */
export type ApiInput<Route extends ApiRoute> = ApiPath<Route> & {
  readonly [Part in keyof ApiCalls[Route] as Part extends "query" | "body"
    ? Part
    : never]: ApiCalls[Route][Part];
} & {
  /** Changes, deletes or acts only if the record is unchanged. */
  readonly etag?: string | undefined;
  /** As `RepeatOptions` has it, for POST. */
  readonly idempotencyKey?: string | undefined;
};

/** The path of an organisation. */
export type OrganisationPath = "/api/v1/organisations/{org}";

type WithoutSlash<Name> = Name extends `${string}/${string}` ? never : Name;

/** Names of collections whose records have an operation, e.g. `users`. */
export type ApiCollection<Method extends string, End extends "" | "/{id}"> = WithoutSlash<
  ApiRoute extends infer Route
    ? Route extends `${Method} ${OrganisationPath}/${infer Name}${End}`
      ? Name
      : never
    : never
>;

/** What can be posted below a record of a collection: acts such as `disable`, and new records such as `secrets`. */
export type ApiAct<Name extends string> = WithoutSlash<
  ApiRoute extends infer Route
    ? Route extends `POST ${OrganisationPath}/${Name}/{id}/${infer Act}`
      ? Act
      : never
    : never
>;

/** The operation of a method and a path below an organisation's. */
export type ApiRouteOf<Method extends string, Path extends string> = Extract<
  `${Method} ${OrganisationPath}/${Path}`,
  ApiRoute
>;

/** The body that an operation takes. */
export type ApiBody<Route extends ApiRoute> = ApiCalls[Route] extends { body?: infer Body }
  ? Body
  : undefined;

/** The query that an operation takes. */
export type ApiQuery<Route extends ApiRoute> = ApiCalls[Route] extends { query?: infer Query }
  ? Query
  : undefined;
