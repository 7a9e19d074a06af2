/** What a call of SCIM is, whether it came alone or in a bulk. */
import type { Resource, ResourceType } from "@signet/protocol/scim/attribute";
import type { Connection } from "../../core/connections/connection.ts";
import type { ProvisionDeps } from "../../core/provisioning/provision-transaction.ts";
import type { RateLimits } from "../../core/rate-limits/rate-limits.ts";
import type { ErrorHandlerDeps } from "../../http/error-handlers.ts";
import type { ListRequest } from "./list-request.ts";

/** Whether an attribute will be answered: what is large is not read in vain. */
export type Wants = (name: string) => boolean;

export interface ScimDeps extends ProvisionDeps {
  readonly baseUrl: string;
  readonly rateLimits: RateLimits;
  readonly errors: ErrorHandlerDeps;
}

export interface ScimCaller {
  readonly connection: Connection;
  readonly address: string;
  /** `{base_url}/scim/v2/{org}/{connection}`. */
  readonly root: string;
}

/** As answered, whole; its ETag is in `meta.version`. */
export type Shown = Resource & {
  readonly id: string;
  readonly meta: Resource & { readonly version: string; readonly location: string };
};

export interface Page {
  readonly resources: readonly Shown[];
  readonly total: number;
  /** Whether more follow this page. */
  readonly hasMore: boolean;
}

export interface Precondition {
  /** The value of `If-Match`, or of a bulk operation's `version`. */
  readonly ifMatch: string | undefined;
  readonly wants: Wants;
}

/** What can be done with the resources of one type. */
export interface ScimResources {
  readonly type: ResourceType;
  find(caller: ScimCaller, id: string, wants: Wants): Promise<Shown | undefined>;
  list(caller: ScimCaller, request: ListRequest, wants: Wants): Promise<Page>;
  create(caller: ScimCaller, body: unknown, wants: Wants): Promise<Shown>;
  replace(caller: ScimCaller, id: string, body: unknown, condition: Precondition): Promise<Shown>;
  patch(caller: ScimCaller, id: string, body: unknown, condition: Precondition): Promise<Shown>;
  remove(caller: ScimCaller, id: string, condition: Precondition): Promise<void>;
}

/** An answer that is ready to send. */
export interface ScimAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}
