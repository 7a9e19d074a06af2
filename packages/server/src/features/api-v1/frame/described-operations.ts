/** How the routes of records are described in /openapi.json. */
import type { TSchema } from "typebox";

export interface Described {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  /** Statuses beside those of every operation. */
  readonly errors?: readonly number[];
}

export interface Writing<B extends TSchema> extends Described {
  readonly body: B;
  readonly example?: unknown;
  /** Bytes; the server's limit when left out. */
  readonly bodyLimit?: number;
}
