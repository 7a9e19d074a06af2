/** Calls of API v1 inside this process, on the database: the same records and rules as a server's, without a listener. */
import fastify, { type FastifyInstance } from "fastify";
import { isDatabaseUnavailable } from "../../db/database-errors.ts";
import { keepRawQuery } from "../../http/form-body.ts";
import { BODY_LIMIT } from "../../http/server.ts";
import { apiV1Routes } from "../../modules/api-v1.ts";
import type { Service } from "../../modules/open-service.ts";
import { OPERATOR } from "../with-service.ts";
import type { Transport } from "./api-types.ts";

const MERGE_PATCH = "application/merge-patch+json";

export interface LocalApi {
  readonly transport: Transport;
  close(): Promise<void>;
}

export async function localApi(service: Service): Promise<LocalApi> {
  const app: FastifyInstance = fastify({
    bodyLimit: BODY_LIMIT,
    routerOptions: { maxParamLength: 200, querystringParser: keepRawQuery },
  });
  let failure: unknown;
  const errors = {
    isUnavailable: isDatabaseUnavailable,
    log: (error: unknown) => {
      failure = error;
    },
    refused: () => {},
  };
  // The direct way past the router is for listeners.
  const calls = { add: () => {} };
  await app.register(async (scope) =>
    apiV1Routes(scope, { service, errors, operations: [], calls }, { actor: OPERATOR }),
  );
  return {
    transport: async ({ method, path, body, ifMatch }) => {
      failure = undefined;
      const answer = await app.inject({
        method,
        url: path,
        headers: {
          ...(ifMatch === undefined ? {} : { "if-match": ifMatch }),
          ...(body === undefined
            ? {}
            : { "content-type": method === "PATCH" ? MERGE_PATCH : "application/json" }),
        },
        ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
      });
      // What a server would log, the operator here has to know.
      if (failure !== undefined) throw failure;
      return {
        status: answer.statusCode,
        etag: answer.headers.etag,
        body: answer.payload === "" ? undefined : (JSON.parse(answer.payload) as unknown),
      };
    },
    close: () => app.close(),
  };
}
