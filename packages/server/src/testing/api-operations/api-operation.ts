/** What every operation of the JSON interfaces must do, tried by api-operations.test.ts on both databases. */
import type { Service } from "../../modules/open-service.ts";
import type { FakeClock } from "../fakes/fake-clock.ts";
import type { TestAccount } from "../fixtures/system-account.ts";
import type { TestOrganisation } from "../test-service.ts";

export interface ApiWorld {
  readonly service: Service;
  readonly baseUrl: string;
  readonly clock: FakeClock;
  readonly a: TestOrganisation;
  readonly b: TestOrganisation;
  readonly administratorOfA: TestAccount;
  readonly administratorOfB: TestAccount;
  /** Of the web application, without any other permission. */
  readonly plainOfA: TestAccount;
  readonly plainOfB: TestAccount;
}

export type Tried = (world: ApiWorld) => Promise<void>;

/** A case that an operation cannot have says why. */
export interface ApiCase {
  readonly happy: Tried;
  /** No credential, and a wrong one. */
  readonly unauthenticated: Tried | { readonly none: string };
  /** What is another organisation's, by its id, its key or its account. */
  readonly foreign: Tried | { readonly none: string };
  /** Somebody known who may not. */
  readonly forbidden: Tried | { readonly none: string };
  readonly malformed: Tried | { readonly none: string };
}

/** By method and path, as Fastify writes it. */
export type ApiCases = Readonly<Record<string, ApiCase>>;
